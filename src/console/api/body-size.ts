import type { TSchema } from 'typebox';

/** The limit for a body or a part of a body whose schema states no size. */
export const UNSTATED_BYTES = 64 * 1024;
/** A character beyond the BMP as two escapes, as writers of ASCII JSON write it. */
const CHARACTER_BYTES = 12;
const NUMBER_BYTES = 32;
const FORMAT_BYTES = 64;

/**
 * Returns the bytes of the largest body that a schema accepts, at least `UNSTATED_BYTES`. So every stated number of
 * items and every stated length holds at its limit.
 */
export const bodyLimitOf = (schema: TSchema): number => Math.max(UNSTATED_BYTES, bytesOf(schema));

/** The parts of JSON Schema that the schemas of bodies use. */
interface Sized {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Sized>>;
  readonly items?: Sized;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly format?: string;
  readonly enum?: readonly unknown[];
}

/** @throws Error for a list without `maxItems` */
function bytesOf(schema: Sized): number {
  const { properties, items, maxItems, maxLength } = schema;
  if (schema.enum !== undefined) return Math.max(...schema.enum.map((each) => sizeOf(each)));
  if (properties !== undefined) {
    const members = Object.entries(properties);
    return members.reduce((sum, [name, value]) => sum + sizeOf(name) + 2 + bytesOf(value), 2);
  }
  if (items !== undefined) {
    if (maxItems === undefined) throw new Error('a list in a body needs maxItems');
    return 2 + maxItems * (bytesOf(items) + 1);
  }
  if (maxLength !== undefined) return 2 + maxLength * CHARACTER_BYTES;
  if (schema.format !== undefined) return FORMAT_BYTES;
  const isScalar = [schema.type ?? []].flat().some((type) => SCALARS.has(type));
  return isScalar ? NUMBER_BYTES : UNSTATED_BYTES;
}

const SCALARS: ReadonlySet<string> = new Set(['integer', 'number', 'boolean']);
const sizeOf = (value: unknown) => JSON.stringify(value).length;
