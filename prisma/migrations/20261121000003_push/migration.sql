-- Pushing by the service: more that a person may have to know of.

COMMENT ON TABLE conciliation.alert IS
  'Conditions that a person should know of: a failed, held or stale pull, rejected titles, a date restated after sign-off, refused providers, a push that keeps failing, a changed bank account, a refused token.';
