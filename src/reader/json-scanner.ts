import { PlatformContractError } from '../runtime/errors.ts';
import { ContainerStack } from './container-stack.ts';
import {
  ANY_TEXT,
  ASCII_TEXT,
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON_SIGN,
  COMMA,
  DIGIT_ZERO,
  isDigit,
  isHexDigit,
  isSpace,
  MINUS_SIGN,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './json-bytes.ts';
import { ESCAPES, ScanEvent, State } from './json-states.ts';

/**
 * Checks the grammar of JSON (RFC 8259), byte by byte, for a document whose root is an object. The scanner
 * is a state machine with a stack of one bit a level, so it needs neither recursion nor other memory
 * for a long or deep document. A leading byte order mark is skipped. Any violation throws a
 * PlatformContractError with the byte offset. The scanner must not be used after that.
 */
export class JsonScanner {
  /**
   * Values within at most this number of containers are reported. 1: the values of the root's fields; 2: also
   * the elements of these values.
   */
  reportDepth: 1 | 2 = 1;
  /** Whether strings are checked to be UTF-8. May change only at an event. */
  checksUtf8 = true;
  /** After an event: the index in the chunk of the next byte to scan. */
  position = 0;

  #state: State = State.start;
  #chunkOffset = 0;
  #containers = new ContainerStack();
  #inObject = false;
  #inName = false;
  #hexDigitsLeft = 0;
  #literal = '';
  #literalLength = 0;
  #tailLeft = 0;
  #tailLow = 0;
  #tailHigh = 0;

  /** Whether the root has been closed. */
  get isComplete(): boolean {
    return this.#state === State.done;
  }

  /** The byte offset in the document of an index into the current chunk. */
  offsetOf(index: number): number {
    return this.#chunkOffset + index;
  }

  /**
   * Scans from `from` to the next event. After `chunkEnd`, continue with the next chunk at 0; after any
   * other event, with the same chunk at `position`.
   */
  scan(chunk: Uint8Array, from: number): ScanEvent {
    const end = chunk.length;
    const plainText = this.checksUtf8 ? ASCII_TEXT : ANY_TEXT;
    const reportDepth = this.reportDepth;
    // Local variables are faster than fields, which would be stored for every token.
    let state: State = this.#state;
    const containers = this.#containers;
    let depth = containers.depth;
    let inObject = this.#inObject;
    let inName = this.#inName;
    let at = from;
    let event: ScanEvent = ScanEvent.chunkEnd;

    while (at < end && event === ScanEvent.chunkEnd) {
      const byte = chunk[at] as number;
      switch (state) {
        case State.text: {
          let index = at;
          while (index < end && plainText[chunk[index] as number] === 1) index++;
          at = index;
          if (index === end) break;
          const special = chunk[index] as number;
          if (special === QUOTE) {
            if (inName) {
              state = State.colon;
              if (depth === 1) event = ScanEvent.nameEnd;
            } else {
              state = State.afterValue;
              if (depth <= reportDepth) event = ScanEvent.valueEnd;
            }
          } else if (special === BACKSLASH) {
            state = State.escape;
          } else if (special < 0x20) {
            throw this.#violation('an unescaped control character in a string', at);
          } else {
            this.#startCharacter(special, at);
            state = State.utf8Tail;
          }
          at++;
          break;
        }
        case State.colon:
          if (byte === COLON_SIGN) state = State.value;
          else if (!isSpace(byte)) throw this.#violation("no ':' after a field name", at);
          at++;
          break;
        case State.firstItem:
        case State.value: {
          if (isSpace(byte)) {
            at++;
            break;
          }
          if (state === State.firstItem && byte === CLOSE_BRACKET) {
            // An empty array ends like any other.
            state = State.afterValue;
            break;
          }
          if (depth <= reportDepth) event = ScanEvent.valueStart;
          if (byte === QUOTE) {
            state = State.text;
            inName = false;
          } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
            inObject = byte === OPEN_BRACE;
            state = inObject ? State.firstName : State.firstItem;
            containers.push(inObject);
            depth++;
          } else {
            state = this.#startScalar(byte, at);
          }
          at++;
          break;
        }
        case State.afterValue:
          if (byte === COMMA) {
            state = inObject ? State.name : State.value;
          } else if (byte === (inObject ? CLOSE_BRACE : CLOSE_BRACKET)) {
            depth--;
            inObject = containers.pop();
            if (depth === 0) state = State.done;
            else if (depth <= reportDepth) event = ScanEvent.valueEnd;
          } else if (!isSpace(byte)) {
            throw this.#violation(`no ',' or '${inObject ? '}' : ']'}' after a value`, at);
          }
          at++;
          break;
        case State.firstName:
        case State.name:
          if (byte === QUOTE) {
            state = State.text;
            inName = true;
            if (depth === 1) event = ScanEvent.nameStart;
          } else if (state === State.firstName && byte === CLOSE_BRACE) {
            state = State.afterValue;
            break;
          } else if (!isSpace(byte)) {
            throw this.#violation('no field name', at);
          }
          at++;
          break;
        case State.zero:
        case State.integer:
        case State.fraction:
        case State.exponentDigits:
          // The number may end here. The byte that ends it belongs to the next token.
          if (isDigit(byte) && state !== State.zero) at++;
          else if (byte === 0x2e && (state === State.zero || state === State.integer)) {
            state = State.point;
            at++;
          } else if ((byte | 0x20) === 0x65 && state !== State.exponentDigits) {
            state = State.exponent;
            at++;
          } else {
            state = State.afterValue;
            if (depth <= reportDepth) event = ScanEvent.valueEnd;
          }
          break;
        case State.literal:
          if (byte !== this.#literal.charCodeAt(this.#literalLength)) {
            throw this.#violation('a word that is not true, false or null', at);
          }
          at++;
          if (++this.#literalLength === this.#literal.length) {
            state = State.afterValue;
            if (depth <= reportDepth) event = ScanEvent.valueEnd;
          }
          break;
        case State.start:
        case State.root:
          if (byte === OPEN_BRACE) {
            containers.push(true);
            depth++;
            inObject = true;
            state = State.firstName;
          } else if (state === State.start && byte === 0xef) {
            state = State.bomSecond;
          } else if (isSpace(byte)) {
            state = State.root;
          } else {
            throw this.#violation('the document is not a JSON object', at);
          }
          at++;
          break;
        default:
          state = this.#advance(state, byte, at);
          at++;
      }
    }

    this.#state = state;
    this.#inObject = inObject;
    this.#inName = inName;
    this.position = at;
    if (event === ScanEvent.chunkEnd) this.#chunkOffset += end;
    return event;
  }

  /** Continues after a container that another reader has read. To be called after its `valueStart`. */
  closeContainer(): void {
    this.#inObject = this.#containers.pop();
    this.#state = State.afterValue;
  }

  /** The rare states. Each takes one byte and reports no event. Returns the next state. */
  #advance(state: State, byte: number, at: number): State {
    switch (state) {
      case State.utf8Tail:
        if (byte < this.#tailLow || byte > this.#tailHigh) {
          throw this.#violation('invalid UTF-8', at);
        }
        this.#tailLow = 0x80;
        this.#tailHigh = 0xbf;
        return --this.#tailLeft === 0 ? State.text : State.utf8Tail;
      case State.escape:
        if (byte === 0x75) {
          this.#hexDigitsLeft = 4;
          return State.hex;
        }
        if (!ESCAPES.has(byte)) throw this.#violation('an unknown escape in a string', at);
        return State.text;
      case State.hex:
        if (!isHexDigit(byte)) throw this.#violation('no four hexadecimal digits after \\u', at);
        return --this.#hexDigitsLeft === 0 ? State.text : State.hex;
      case State.minus:
        if (!isDigit(byte)) throw this.#violation("no digit after '-'", at);
        return byte === DIGIT_ZERO ? State.zero : State.integer;
      case State.point:
        if (!isDigit(byte)) throw this.#violation("no digit after '.' in a number", at);
        return State.fraction;
      case State.exponent:
        if (byte === 0x2b || byte === 0x2d) return State.exponentSign;
        if (!isDigit(byte)) throw this.#violation('no digit in an exponent', at);
        return State.exponentDigits;
      case State.exponentSign:
        if (!isDigit(byte)) throw this.#violation('no digit in an exponent', at);
        return State.exponentDigits;
      case State.bomSecond:
        if (byte !== 0xbb) throw this.#violation('the document is not a JSON object', at);
        return State.bomThird;
      case State.bomThird:
        if (byte !== 0xbf) throw this.#violation('the document is not a JSON object', at);
        return State.root;
      default:
        if (!isSpace(byte)) throw this.#violation('text after the document', at);
        return State.done;
    }
  }

  #startScalar(byte: number, at: number): State {
    if (byte === DIGIT_ZERO) return State.zero;
    if (isDigit(byte)) return State.integer;
    if (byte === MINUS_SIGN) return State.minus;
    if (byte === 0x74) this.#literal = 'true';
    else if (byte === 0x66) this.#literal = 'false';
    else if (byte === 0x6e) this.#literal = 'null';
    else throw this.#violation('no value', at);
    this.#literalLength = 1;
    return State.literal;
  }

  /** Well-formed byte sequences by table 3-7 of the Unicode standard: the lead byte limits the second one. */
  #startCharacter(lead: number, at: number): void {
    if (lead < 0xc2 || lead > 0xf4) throw this.#violation('invalid UTF-8', at);
    this.#tailLeft = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    this.#tailLow = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    this.#tailHigh = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  }

  #violation(what: string, at: number): PlatformContractError {
    const offset = this.offsetOf(at);
    return new PlatformContractError(`the answer is not valid: ${what}, at byte ${offset}`, {
      context: { offset },
    });
  }
}
