-- Signing in to the console with an account of an OpenID Connect provider.

ALTER TABLE conciliation.console_user
  ADD COLUMN email        text,
  ADD COLUMN oidc_issuer  text,
  ADD COLUMN oidc_subject text,
  ADD CONSTRAINT console_user_email_check CHECK (email = lower(email) AND email LIKE '%_@_%'),
  ADD CONSTRAINT console_user_oidc_check CHECK ((oidc_issuer IS NULL) = (oidc_subject IS NULL));

CREATE UNIQUE INDEX console_user_email_key ON conciliation.console_user (email);
CREATE UNIQUE INDEX console_user_oidc_key
  ON conciliation.console_user (oidc_issuer, oidc_subject);

COMMENT ON COLUMN conciliation.console_user.email IS
  'E-mail address, in lower case, by which an account of the identity provider is recognised when it signs in first. Null: the person signs in with a password only. Personal data.';
COMMENT ON COLUMN conciliation.console_user.oidc_issuer IS
  'Issuer of the account that the person signs in with. Null: no account was tied to the user yet.';
COMMENT ON COLUMN conciliation.console_user.oidc_subject IS
  'The account''s subject ("sub") at that issuer; from the first sign-in on it alone counts, not the e-mail address. Null: no account was tied to the user yet. Personal data.';


CREATE TABLE conciliation.console_oidc_login (
  state_hash    text        PRIMARY KEY,
  visit_hash    text        NOT NULL,
  nonce         text        NOT NULL,
  code_verifier text        NOT NULL,
  next          text        NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at    timestamptz NOT NULL
);

CREATE INDEX console_oidc_login_expires_idx ON conciliation.console_oidc_login (expires_at);

COMMENT ON TABLE conciliation.console_oidc_login IS
  'For the program only: sign-ins that are at the identity provider at this moment. A row is deleted when its visitor comes back, or when its time is over.';
COMMENT ON COLUMN conciliation.console_oidc_login.state_hash IS
  'SHA-256 of the state that was sent along, in hexadecimal.';
COMMENT ON COLUMN conciliation.console_oidc_login.visit_hash IS
  'SHA-256 of the cookie of the browser that began, in hexadecimal: no other can end it.';
COMMENT ON COLUMN conciliation.console_oidc_login.nonce IS
  'What the ID token has to repeat.';
COMMENT ON COLUMN conciliation.console_oidc_login.code_verifier IS
  'The secret of PKCE, which exchanges the code.';
COMMENT ON COLUMN conciliation.console_oidc_login.next IS
  'Path of the console to go to afterwards.';
COMMENT ON COLUMN conciliation.console_oidc_login.created_at IS
  'When the visitor was sent to the provider.';
COMMENT ON COLUMN conciliation.console_oidc_login.expires_at IS
  'Until when the visitor may come back.';
