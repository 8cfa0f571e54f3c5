import { InvalidArgumentError } from 'commander';
import { type CivilDate, parseCivilDate } from '../base/values/business-day.ts';

/** Commander argument parser: a real calendar date. */
export function dateArgument(text: string): CivilDate {
  const date = parseCivilDate(text);
  if (date === null) throw new InvalidArgumentError('Expected a calendar date as YYYY-MM-DD.');
  return date;
}

/** Commander argument parser: the number of a pull, a backfill, … */
export function idArgument(what: string): (text: string) => bigint {
  return (text) => {
    if (!/^[1-9]\d{0,17}$/.test(text)) {
      throw new InvalidArgumentError(`Expected the number of a ${what}.`);
    }
    return BigInt(text);
  };
}

/** Commander argument parser for a whole number within bounds. */
export function integerArgument(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** Commander argument parser: a reason for the audit log. */
export function reasonArgument(text: string): string {
  const reason = text.trim();
  if (reason === '') throw new InvalidArgumentError('Expected a reason in words.');
  return reason;
}
