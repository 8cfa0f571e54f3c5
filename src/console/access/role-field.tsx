import type { ConsoleRole } from '../../domain/role.ts';
import { Field } from '../shell/layout.tsx';
import type { PageContext } from '../shell/page-context.ts';

export function RoleField<Role extends ConsoleRole>(props: {
  readonly context: PageContext;
  readonly label: string;
  readonly roles: readonly Role[];
  readonly chosen: Role;
}) {
  return (
    <Field label={props.label}>
      <select name="role">
        {props.roles.map((role) => (
          <option key={role} value={role} selected={role === props.chosen}>
            {props.context.text.roles[role]}
          </option>
        ))}
      </select>
    </Field>
  );
}
