import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

/** At higher levels, the time grows much faster than the files shrink. */
const COMPRESSION_LEVEL = 3;

/** A file of an archive. A function is called when its turn comes, and its bytes are read once. */
export interface ZipPart {
  readonly path: string;
  readonly bytes: Buffer | (() => AsyncIterable<Buffer>);
}

/** Encodes a ZIP archive while it is read, in the order of the parts, and throws their errors. */
export async function* writeZip(parts: Iterable<ZipPart>): AsyncGenerator<Buffer> {
  const zip = new ZipFile();
  // yazl declares its PassThrough with the most general interface.
  const output = zip.outputStream as Readable;
  const opened: Readable[] = [];
  zip.on('error', (error: Error) => output.destroy(error));
  try {
    for (const { path, bytes } of parts) {
      if (Buffer.isBuffer(bytes)) {
        zip.addBuffer(bytes, path, { compressionLevel: COMPRESSION_LEVEL });
        continue;
      }
      zip.addReadStreamLazy(path, { compressionLevel: COMPRESSION_LEVEL }, (deliver) => {
        const stream = Readable.from(bytes(), { objectMode: false, highWaterMark: 1 });
        stream.on('error', (error) => output.destroy(error));
        opened.push(stream);
        deliver(null, stream);
      });
    }
    zip.end();
    yield* output;
  } finally {
    for (const stream of opened) stream.destroy();
  }
}
