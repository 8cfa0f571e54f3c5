import { Field } from '../shell/layout.tsx';
import { usePage } from '../shell/page-context.ts';
import { FormFault, Submit } from '../shell/parts.tsx';
import type { LinkPurpose } from './console-users.sql.ts';
import { MIN_PASSWORD_LENGTH } from './password.ts';

export function LoginPage(props: {
  readonly next: string;
  readonly name: string;
  readonly error: string | null;
  readonly hasOidc: boolean;
}) {
  const context = usePage();
  const { text } = context;
  return (
    <div class="narrow">
      <form method="post" action="/login" class="card stack">
        <h1>{text('login.title')}</h1>
        <FormFault fault={props.error} />
        {props.hasOidc && (
          <>
            <a
              class="button primary"
              href={`/login/oidc?${new URLSearchParams({ next: props.next })}`}
            >
              {text('login.oidc')}
            </a>
            <p class="or">{text('login.orPassword')}</p>
          </>
        )}
        <input type="hidden" name="_csrf" value={context.csrf} />
        <input type="hidden" name="next" value={props.next} />
        <Field label={text('login.name')}>
          <input
            name="name"
            required
            autocomplete="username"
            autocapitalize="none"
            spellcheck={false}
            value={props.name}
          />
        </Field>
        <Field label={text('login.password')}>
          <input name="password" type="password" required autocomplete="current-password" />
        </Field>
        <CodeField isRequired={false} />
        <button type="submit" class={props.hasOidc ? 'button' : 'button primary'}>
          {text('login.submit')}
        </button>
        <p class="quiet small">{text('login.help')}</p>
      </form>
    </div>
  );
}

/** Leads to the provider, which ends its own session. */
export function SignOutPage(props: { readonly url: URL }) {
  const { text } = usePage();
  return (
    <div class="narrow">
      <section class="card stack">
        <h1>{text('signOut.title')}</h1>
        <p>{text('signOut.lead')}</p>
        <a class="button primary" href={props.url.href}>
          {text('signOut.go')}
        </a>
      </section>
    </div>
  );
}

/** A code of the second factor, of an app or a recovery code. */
export function CodeField(props: { readonly isRequired: boolean }) {
  const { text } = usePage();
  return (
    <Field label={props.isRequired ? text('login.code') : text('login.codeIfSet')}>
      <input
        name="code"
        class="mono"
        required={props.isRequired}
        maxLength={40}
        autocomplete="one-time-code"
        autocapitalize="characters"
        spellcheck={false}
      />
    </Field>
  );
}

export function LinkPage(props: {
  readonly link: { readonly name: string; readonly purpose: LinkPurpose } | null;
  readonly action: string;
  readonly fault: string | null;
}) {
  const context = usePage();
  const { link } = props;
  const { text } = context;
  if (link === null) {
    return (
      <div class="narrow">
        <section class="card stack">
          <h1>{text('link.goneTitle')}</h1>
          <p>{text('link.gone')}</p>
          <p>
            <a href="/login">{context.text('login.title')}</a>
          </p>
        </section>
      </div>
    );
  }
  return (
    <div class="narrow">
      <form method="post" action={props.action} class="card stack">
        <input type="hidden" name="_csrf" value={context.csrf} />
        <FormFault fault={props.fault} />
        {link.purpose === 'sign_in' ? (
          <>
            <h1>{text('link.signInTitle')}</h1>
            <p>{text('link.signIn', { name: link.name })}</p>
            <Submit class="primary">{text('link.open')}</Submit>
          </>
        ) : (
          <>
            <h1>{text('link.passwordTitle')}</h1>
            <p>{text('link.choose', { name: link.name })}</p>
            <input type="hidden" name="username" autocomplete="username" value={link.name} />
            <NewPasswordFields name="password" />
            <Submit class="primary">{text('link.save')}</Submit>
          </>
        )}
      </form>
    </div>
  );
}

export function NewPasswordFields(props: {
  /** The name of the first field. */
  readonly name: string;
}) {
  const context = usePage();
  const { text } = context;
  return (
    <>
      <Field label={text('link.password')}>
        <input
          name={props.name}
          type="password"
          required
          minLength={MIN_PASSWORD_LENGTH}
          autocomplete="new-password"
        />
      </Field>
      <Field label={text('link.again')}>
        <input name="again" type="password" required autocomplete="new-password" />
      </Field>
      <p class="quiet small">
        {text('link.rule', { min: context.formats.count(MIN_PASSWORD_LENGTH) })}
      </p>
    </>
  );
}
