/** A person, for the rule that one person decides about a day and another signs it off. */
export interface Person {
  /** `console_user.id`; null for an account at the command line. */
  readonly userId: number | null;
  readonly name: string;
}

/** A person, then every other person that can have acted as that person. */
export type Identity = readonly [Person, ...Person[]];

/** The author of an action. */
export interface Actor {
  /** As the audit log names the author. */
  readonly by: string;
  /** Absent: an account at the command line. */
  readonly countsAs?: Identity;
}

export function identityOf({ by, countsAs }: Actor): Identity {
  return countsAs ?? [{ userId: null, name: by }];
}

export function isSamePerson(one: Person, other: Person): boolean {
  return one.userId === other.userId && (one.userId !== null || one.name === other.name);
}

/** The persons except one. */
export function without(person: Person, persons: readonly Person[]): Person[] {
  return persons.filter((other) => !isSamePerson(other, person));
}

/** Whether two identities count as one: the person of either is among the persons of the other. */
export function countAsOne(one: Identity, other: Identity): boolean {
  return (
    one.some((person) => isSamePerson(person, other[0])) ||
    other.some((person) => isSamePerson(person, one[0]))
  );
}
