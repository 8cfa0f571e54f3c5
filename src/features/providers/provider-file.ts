import { type FileReading, type FileRecord, readFile } from '../../base/files/import-file.ts';
import { type FieldFault, isObject, isStorableText } from '../../base/values/field-reader.ts';
import { ACCOUNT_FIELDS, checkProvider, OWN_FIELDS, type Provider } from './provider.ts';

/** One provider of a file, or its faults. */
interface FileProvider extends Pick<FileRecord<string>, 'at'> {
  /** Null if there are faults. */
  readonly provider: Provider | null;
  readonly isRaised: boolean;
  /** Of a provider with faults, where it can be read: another row with it is contested. */
  readonly refusedId: string | null;
  /** For CSV with the names of the columns. */
  readonly faults: readonly FieldFault[];
}

/** `account1` to `account9`. */
const ACCOUNTS = Array.from({ length: 9 }, (_, index) => `account${index + 1}`);
const SHAPE = {
  list: 'providers',
  columns: [
    ...OWN_FIELDS,
    ...ACCOUNTS.flatMap((account) => ACCOUNT_FIELDS.map((field) => `${account}.${field}`)),
  ],
  required: ['externalId', 'identificationNumber', 'name'],
  columnsText: `${OWN_FIELDS.join(', ')}, or account1.${ACCOUNT_FIELDS[0]} and so on`,
};
/** Separates several phones or addresses in one cell. */
const LIST_SEPARATOR = '|';

type Cells = Readonly<Partial<Record<string, string>>>;

/**
 * Reads the providers of a file and checks each of them. The import checks conflicts between providers.
 * @throws InputError when the file cannot be read, or does not have the format of its name
 */
export function readProviderFile(reading: FileReading): AsyncGenerator<FileProvider> {
  return readFile(reading, SHAPE, ({ at, value, cells, fault }) => {
    const refused = { at, provider: null, isRaised: false, refusedId: null };
    if (fault !== null) return { ...refused, faults: [fault] };
    const accounts = cells === null ? [] : accountsOf(cells);
    const stated = cells === null ? value : toProvider(cells, accounts);
    const check = checkProvider(stated);
    if (check.ok) return { at, ...check, refusedId: null, faults: [] };
    const id = isObject(stated) ? stated['externalId'] : null;
    const toField = (field: string) => (cells === null ? field : toColumn(field, accounts));
    return {
      ...refused,
      refusedId: typeof id === 'string' && isStorableText(id) ? id : null,
      faults: check.faults.map(({ field, expected }) => ({ field: toField(field), expected })),
    };
  });
}

/** The accounts of which a row states something. */
function accountsOf(cells: Cells): readonly string[] {
  return ACCOUNTS.filter((account) =>
    Object.keys(cells).some((column) => column.startsWith(account)),
  );
}

/** Returns the cells in the shape of a provider, unchecked. */
function toProvider(cells: Cells, accounts: readonly string[]): object {
  const { phones, emailAddresses, canAnticipate } = cells;
  const own = OWN_FIELDS.flatMap((field) => (cells[field] ? [[field, cells[field]]] : []));
  return {
    ...Object.fromEntries(own),
    ...(canAnticipate && { canAnticipate: toFlag(canAnticipate) }),
    ...(phones && { phones: toList(phones).map((number) => ({ number })) }),
    ...(emailAddresses && {
      emailAddresses: toList(emailAddresses).map((email) => ({ email })),
    }),
    ...(accounts.length > 0 && { accounts: accounts.map((account) => toAccount(cells, account)) }),
  };
}

function toAccount(cells: Cells, account: string): object {
  const stated = ACCOUNT_FIELDS.flatMap((field) => {
    const cell = cells[`${account}.${field}`];
    return cell === undefined ? [] : [[field, field === 'defaultAccount' ? toFlag(cell) : cell]];
  });
  return Object.fromEntries(stated);
}

function toList(cell: string): string[] {
  return cell
    .split(LIST_SEPARATOR)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** The words for yes and no of spreadsheets in English and Portuguese. */
const FLAGS = new Map([
  ...['true', 'yes', 'y', 'verdadeiro', 'sim', 's', '1'].map((word) => [word, true] as const),
  ...['false', 'no', 'n', 'falso', 'não', 'nao', '0'].map((word) => [word, false] as const),
]);

/** Other values stay text, which the check refuses. */
function toFlag(cell: string): boolean | string {
  return FLAGS.get(cell.trim().normalize('NFC').toLowerCase()) ?? cell;
}

/** Maps `accounts[0].bankNumber` to `account1.bankNumber`, `phones[1].number` to `phones`. */
function toColumn(field: string, accounts: readonly string[]): string {
  const [, list = field, index, rest] = /^(\w+)\[(\d+)\](?:\.(.*))?$/.exec(field) ?? [];
  if (list !== 'accounts' || index === undefined) return list;
  return `${accounts[Number(index)] ?? 'account1'}.${rest ?? ''}`;
}
