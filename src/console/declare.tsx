/**
 * A page and an action are declared once, as a list is. An action states its path, its roles, its input, the deed, and
 * the page that follows. The declaration makes the route and the form. The schemas of the input check the path, the
 * query and the form before the declaration's functions run.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren, VNode } from 'preact';
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { type AuditRecord, recordAudit } from '../base/audit/audit.ts';
import { withFinalCheck } from '../base/database/database.ts';
import { InputError } from '../base/runtime/errors.ts';
import { refusal, type TextKey } from '../base/texts/texts.ts';
import { type CivilDate, parseCivilDate } from '../base/values/business-day.ts';
import type { ConsoleRole } from '../base/values/role.ts';
import { requireRights } from './access/console-users.sql.ts';
import { splitInput } from './api/schema-parts.ts';
import type { AddRoutes, ConsoleParts } from './shell/console-parts.ts';
import { actorOf } from './shell/guard.ts';
import { Field, type FieldLook, FormField, type NavigationPath } from './shell/layout.tsx';
import { type PageContext, textParameters, usePage } from './shell/page-context.ts';
import { ActionForm, Disclosure, OwnSeal, type OwnSealProps, Submit } from './shell/parts.tsx';
import { EVERYBODY, STAFF, withAccess } from './shell/route-access.ts';
import { faultSentence, sendPage, statusOf } from './shell/send-page.tsx';

const MAX_REASON_LENGTH = 500;
/** Why a person decides. The form has a field for an input of this name. */
export const reason = Type.String({ maxLength: MAX_REASON_LENGTH });
/** @throws InputError when a part of an input is no calendar date */
export function dateIn(text: string): CivilDate {
  const date = parseCivilDate(text);
  if (date !== null) return date;
  throw new InputError('expected a calendar date as YYYY-MM-DD', {
    context: { fault: 'form', field: 'date' },
  });
}

/** The schemas of texts that keep the blanks at their ends. */
const AS_WRITTEN = new Set<TSchema>();
export function asWritten<Schema extends TSchema>(schema: Schema): Schema {
  AS_WRITTEN.add(schema);
  return schema;
}

type InputOf<Input extends TProperties> = Readonly<Static<TObject<Input>>>;

interface RouteBase<Input extends TProperties> {
  readonly path: `/${string}`;
  /** Absent: every role. visitor: also people without a sign-in. */
  readonly who?: 'visitor' | readonly ConsoleRole[];
  /** Of the path, and of the query or the form. */
  readonly input: Input;
  /** Whether a user who has to set up a second factor first may use it. */
  readonly isForEnrolment?: true;
}

/** The options of a route: the roles, and the schemas of the input. */
function checked(
  { path, who = EVERYBODY, input, isForEnrolment }: RouteBase<TProperties>,
  part: 'querystring' | 'body',
) {
  const [inPath, others] = splitInput(path, input);
  return {
    ...withAccess({ who, scope: null, ...(isForEnrolment && { isForEnrolment }) }),
    attachValidation: true,
    preValidation: async (request: FastifyRequest) => {
      request.query = cleaned(request.query, input);
      const form = Object.entries(cleaned(request.body, input));
      // A deed may pass its whole input on.
      request.body = Object.fromEntries(form.filter(([name]) => name in others));
    },
    schema: { params: Type.Object(inPath), [part]: Type.Object(others) },
  };
}

/** The parameters without blanks at their ends, and without the empty ones, which count as absent. */
const cleaned = (source: unknown, input: TProperties) =>
  Object.fromEntries(
    Object.entries(source ?? {}).flatMap(([name, value]) => {
      if (input[name] !== undefined && AS_WRITTEN.has(input[name])) return [[name, value]];
      const texts = textParameters(source, name);
      return texts.length === 0 ? [] : [[name, texts.length === 1 ? texts[0] : texts]];
    }),
  );

/**
 * Returns the input that the schemas have checked; null: there is no such page.
 * @throws InputError when the form does not fit
 */
function inputOf<Input extends TProperties>(
  request: FastifyRequest,
  part: 'query' | 'body',
): InputOf<Input> | null {
  const { validationError: fault, params } = request;
  if (fault === undefined) {
    const input = Object.assign({}, request[part], params) as InputOf<Input>;
    // The validator reads the text Infinity as an integer, and compares no bounds with it.
    const isNoNumber = (value: unknown) =>
      typeof value === 'number' && !Number.isSafeInteger(value);
    return Object.values(input).some(isNoNumber) ? null : input;
  }
  if (fault.validationContext !== 'body') return null;
  const [{ instancePath, params: about } = NO_FAULT] = fault.validation ?? [];
  const name = String(about['missingProperty'] ?? instancePath.slice(1));
  if (name === 'reason') {
    throw about['limit'] === undefined
      ? refusal('reason_missing')
      : refusal('reason_long', { max: MAX_REASON_LENGTH });
  }
  throw new InputError(fault.message, { context: { fault: 'form', field: name } });
}

const NO_FAULT = { instancePath: '', params: {} as Record<string, unknown> };

/** What an action has led to. */
interface Outcome<Result> {
  /** Why it is refused. */
  readonly fault?: InputError;
  readonly result?: Result;
  readonly status?: number;
}

interface PageDeclaration<Input extends TProperties, Data, Result> extends RouteBase<Input> {
  /** The entry of the navigation; null: none. */
  readonly active: NavigationPath | null;
  /** Null: there is no such page. */
  readonly read: (
    parts: ConsoleParts,
    input: InputOf<Input>,
    request: FastifyRequest,
    isRevealed: boolean,
  ) => Promise<Data | null>;
  readonly title: (context: PageContext, data: Data, input: InputOf<Input>) => string;
  readonly body: (
    data: Data,
    page: PageContext,
    shown: {
      readonly input: InputOf<Input>;
      readonly isRevealed: boolean;
      /** Of the action that the page answers; null: there is none. */
      readonly result: Result | null;
    },
  ) => VNode;
  /** The address to which the page leads in place of being shown; null: it is shown. */
  readonly elsewhere?: (data: Data) => string | null;
  /** The page is asked for again after so many seconds. Absent or undefined: it stays. */
  readonly refreshSeconds?: (data: Data) => number | undefined;
  /** The entry in the audit log, before a reader who may see personal data sees what is masked. Absent: nothing is. */
  readonly reveal?: ((data: Data) => Omit<AuditRecord, 'actor'>) | undefined;
}

type DeclaredPage<Result> = AddRoutes & {
  /** Answers an action with the page, whose input the path of the action has. */
  readonly after: (
    request: FastifyRequest,
    reply: FastifyReply,
    parts: ConsoleParts,
    outcome: Outcome<Result>,
  ) => Promise<unknown>;
};

export function declarePage<Input extends TProperties, Data, Result = never>(
  page: PageDeclaration<Input, Data, Result>,
): DeclaredPage<Result> {
  const { reveal } = page;
  const send = async (
    request: FastifyRequest,
    reply: FastifyReply,
    parts: ConsoleParts,
    input: InputOf<Input> | null,
    isRevealed: boolean,
    outcome?: Outcome<Result>,
  ) => {
    const data = input && (await page.read(parts, input, request, isRevealed));
    if (input === null || data === null) return reply.callNotFound();
    const elsewhere = page.elsewhere?.(data) ?? null;
    if (elsewhere !== null) return reply.redirect(elsewhere, 303);
    if (reveal !== undefined && isRevealed) {
      const entry = { actor: actorOf(request), ...reveal(data) };
      await recordAudit(parts.database.prisma, entry);
    }
    const { fault, result = null, status = 200 } = outcome ?? {};
    const refreshSeconds = page.refreshSeconds?.(data);
    return sendPage(request, reply, parts, (context) => ({
      title: page.title(context, data, input),
      active: page.active,
      status,
      ...(refreshSeconds !== undefined && { refreshSeconds }),
      ...(fault !== undefined && { fault: faultSentence(context, fault) }),
      body: page.body(data, context, { input, isRevealed, result }),
    }));
  };
  const add: AddRoutes = (server, parts) => {
    const show = (isRevealed: boolean) => (request: FastifyRequest, reply: FastifyReply) =>
      send(request, reply, parts, inputOf<Input>(request, 'query'), isRevealed);
    server.get(page.path, checked(page, 'querystring'), show(false));
    if (reveal === undefined) return;
    server.post(page.path, checked({ ...page, who: STAFF }, 'querystring'), show(true));
  };
  const after: DeclaredPage<Result>['after'] = (request, reply, parts, outcome) =>
    send(request, reply, parts, request.params as InputOf<Input>, false, outcome);
  return Object.assign(add, { after });
}

type NameIn<Key> = Key extends `notices.${infer Name}` ? Name : never;

interface ActionBase<Input extends TProperties> extends RouteBase<Input> {
  /** The page that says why the action is refused. Absent: a page with the fault alone. */
  readonly page?: DeclaredPage<never>;
  /** What the form asks for, in this order. Of other inputs it has the values, or children have the fields. */
  readonly fields?: { readonly [Name in keyof Input]?: FieldLook };
}

interface Deed<Input extends TProperties, Result> extends ActionBase<Input> {
  readonly deed: (
    parts: ConsoleParts,
    input: InputOf<Input>,
    by: string,
    reply: FastifyReply,
  ) => Promise<Result>;
  /** The address of the page that follows. A reload of that page does not repeat the deed. */
  readonly next: (input: InputOf<Input>, result: Awaited<Result>) => string;
  /** Of that page. */
  readonly notice?: NameIn<TextKey>;
}

/** An action whose answer is a page of its own, or a file. */
interface Answer<Input extends TProperties> extends ActionBase<Input> {
  readonly answer: (
    request: FastifyRequest,
    reply: FastifyReply,
    parts: ConsoleParts,
    input: InputOf<Input>,
  ) => Promise<unknown>;
  readonly isDownload?: true;
}

type Written = string | number | bigint | null | undefined;

interface FormProps<Input extends TProperties> {
  /** Of the parameters of the path, of the fields, and of hidden ones. Absent: there are none. */
  readonly values?: { readonly [Name in keyof Input]?: Written | readonly string[] };
  /** The text of the button; or buttons, each of which states an input. */
  readonly button: string | VNode;
  readonly look?: 'primary' | 'danger';
  /** Of the field for the reason. */
  readonly reason?: string;
  /** Below the button. */
  readonly help?: string;
  /** Whether a button with the same text opens the form. */
  readonly isFolded?: boolean;
  /** Shown to a reader who may not use the action. Absent: nothing is. */
  readonly otherwise?: string;
  /** What keeps this person from the action. */
  readonly ownSeal?: OwnSealProps | null;
  readonly class?: string;
  /** Of the form, for fields outside of it. */
  readonly id?: string;
  /** Further fields, in front of the reason. */
  readonly children?: ComponentChildren;
}

export interface Action<Input extends TProperties = TProperties> {
  readonly add: AddRoutes;
  readonly isOffered: (page: Pick<PageContext, 'principal'>) => boolean;
  readonly Form: (props: FormProps<Input>) => VNode | null;
}

/** A user may be disabled, or get another role, between the guard and the commit: the deed then has no effect. */
const actingDatabase = ({ principal }: FastifyRequest, { database }: ConsoleParts) =>
  principal === null ? database : withFinalCheck(database, (tx) => requireRights(tx, principal));

export function declareAction<Input extends TProperties, Result>(
  action: Deed<Input, Result> | Answer<Input>,
): Action<Input> {
  const { path, who = EVERYBODY, page, fields = {} } = action;
  const isOffered: Action['isOffered'] = ({ principal }) =>
    who === 'visitor' || who.includes(principal?.role ?? 'viewer');
  const { required = [] } = Type.Object(action.input) as { required?: string[] };

  const add: AddRoutes = (server, parts) => {
    server.post(path, checked(action, 'body'), async (request, reply) => {
      try {
        const input = inputOf<Input>(request, 'body');
        if (input === null) return reply.callNotFound();
        const own = { ...parts, database: actingDatabase(request, parts) };
        if ('answer' in action) return await action.answer(request, reply, own, input);
        const next = action.next(input, await action.deed(own, input, actorOf(request), reply));
        const mark = next.includes('?') ? '&' : '?';
        const notice = action.notice === undefined ? '' : `${mark}notice=${action.notice}`;
        return reply.redirect(next + notice, 303);
      } catch (error) {
        if (page === undefined || !(error instanceof InputError)) throw error;
        return page.after(request, reply, parts, { status: statusOf(error), fault: error });
      }
    });
  };

  const Form: Action<Input>['Form'] = (props) => {
    const page = usePage();
    const { button, look, help, otherwise } = props;
    if (!isOffered(page)) return otherwise === undefined ? null : <p class="quiet">{otherwise}</p>;
    if (props.ownSeal) return <OwnSeal {...props.ownSeal} />;
    const [inPath] = splitInput(path, action.input);
    const values = Object.entries<Written | readonly string[]>(props.values ?? {}).flatMap(
      ([name, value]) => [value ?? []].flat().map((each) => [name, String(each)] as const),
    );
    const form = (
      <ActionForm
        action={values.reduce<string>(
          (to, [name, value]) => to.replace(`:${name}`, () => encodeURIComponent(value)),
          path,
        )}
        {...(props.class !== undefined && { class: props.class })}
        {...(props.id !== undefined && { id: props.id })}
        isDownload={'answer' in action && action.isDownload === true}
      >
        {values
          .filter(([name]) => !(name in inPath || name in fields))
          .map(([name, value]) => (
            <input key={`${name} ${value}`} type="hidden" name={name} value={value} />
          ))}
        {Object.entries<FieldLook>(fields).map(([name, look]) => (
          <FormField
            key={name}
            {...look}
            name={name}
            schema={(action.input as TProperties)[name] ?? Type.Unknown()}
            value={props.values?.[name]}
            html={{ required: required.includes(name), ...look.html }}
          />
        ))}
        {props.children}
        {'reason' in action.input && (
          <Field label={props.reason ?? page.text('day.reason')}>
            <input
              name="reason"
              required={required.includes('reason')}
              maxLength={MAX_REASON_LENGTH}
            />
          </Field>
        )}
        {typeof button === 'string' ? (
          <Submit {...(look !== undefined && { class: look })}>{button}</Submit>
        ) : (
          button
        )}
        {help !== undefined && <p class="quiet small">{help}</p>}
      </ActionForm>
    );
    return props.isFolded === true && typeof button === 'string' ? (
      <Disclosure label={button}>{form}</Disclosure>
    ) : (
      form
    );
  };
  return { add, isOffered, Form };
}
