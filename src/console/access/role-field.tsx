import type { ConsoleRole } from '../../base/values/role.ts';
import { Field } from '../shell/layout.tsx';
import { usePage } from '../shell/page-context.ts';
import { Options } from '../shell/parts.tsx';

export function RoleField<Role extends ConsoleRole>(props: {
  readonly label: string;
  readonly roles: readonly Role[];
  readonly chosen: Role;
}) {
  const { text } = usePage();
  return (
    <Field label={props.label}>
      <select name="role">
        <Options
          values={props.roles}
          chosen={props.chosen}
          text={(role) => text(`roles.${role}`)}
        />
      </select>
    </Field>
  );
}
