import { PlatformContractError } from '../../base/runtime/errors.ts';

const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,64}\/[a-z0-9!#$&^_.+-]{1,64}$/;
const JSON_MEDIA_TYPE = /^application\/(?:[^/]+\+)?json$/;
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i;

/** @throws PlatformContractError unless the header says JSON in UTF-8 */
export function requireJson(header: string | undefined): void {
  const text = header ?? '';
  const mediaType = text.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!JSON_MEDIA_TYPE.test(mediaType)) {
    // The header may hold any text, so only a well-formed media type is quoted.
    const got = MEDIA_TYPE.test(mediaType) ? mediaType : 'no media type';
    throw new PlatformContractError(`the platform answered with ${got}, expected application/json`);
  }
  const charset = CHARSET.exec(text)?.[1]?.toLowerCase() ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8') {
    throw new PlatformContractError('the platform answered with JSON that is not in UTF-8');
  }
}
