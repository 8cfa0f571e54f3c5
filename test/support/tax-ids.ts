/** The rule of the check digits as published, written down a second time: weights from the right, modulo 11. */
function checkDigit(body: string, highestWeight: number): number {
  const sum = [...body].reverse().reduce((total, character, place) => {
    return total + (character.charCodeAt(0) - 48) * ((place % (highestWeight - 1)) + 2);
  }, 0);
  return sum % 11 < 2 ? 0 : 11 - (sum % 11);
}

function withCheckDigits(body: string, highestWeight: number): string {
  const first = body + checkDigit(body, highestWeight);
  return first + checkDigit(first, highestWeight);
}

// A CPF's weights run to 11 and never wrap; a CNPJ's run from 2 to 9 and start over.
export const toCpf = (body: string): string => withCheckDigits(body, 11);
export const toCnpj = (body: string): string => withCheckDigits(body, 9);
