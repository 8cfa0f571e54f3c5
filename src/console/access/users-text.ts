import type { UserFault } from './console-users.sql.ts';

const en = {
  users: {
    title: 'Users and keys',
    people: 'Users',
    addUser: 'Add a user',
    name: 'User name',
    nameHelp: 'Lower-case letters, digits and . _ @ + -',
    role: 'Role',
    email: 'E-mail address of the company account',
    emailHelp: 'Only needed for signing in with that account.',
    bound: 'company account tied',
    add: 'Add and make a link',
    lastLogin: (at: string) => `Last signed in ${at}`,
    neverLogin: 'Never signed in',
    you: 'you',
    states: { active: 'Active', fresh: 'Not signed in yet', disabled: 'Disabled' },
    change: (name: string) => `Change ${name}`,
    saveRole: 'Save the role',
    saveEmail: 'Save the address',
    saveEmailHelp:
      'Signs the user out and unlinks the previous company account. Empty: passwords only.',
    newLink: 'New link',
    newLinkHelp: 'To choose a new password; the old one works until then.',
    secondFactor: 'second factor',
    resetFactor: 'Reset the second factor',
    resetFactorHelp:
      'When the phone and the recovery codes are lost. Signs the user out. The password stays, and is enough until the user sets up a second factor again. Make sure that the request is from this person.',
    disable: 'Disable',
    disableHelp:
      'Signs the user out immediately, blocks further sign-ins, and revokes the user’s keys.',
    enable: 'Enable again',
    ownHelp:
      'You change your password on the page “My account”. Another administrator, or “conciliation user” at the command line, has to change your role or address, make a link for you or disable you.',
    linkTitle: (name: string) => `The link for ${name}`,
    linkHelp: (hours: string) =>
      `Send it through a channel that others cannot read. It works once, for ${hours} hours, and is shown only now.`,
    linkPersons: (name: string) =>
      `Once ${name} has chosen a password with this link, the two of you count as one person: ${name} cannot sign off a day about which you decided, nor you a day about which ${name} decided. A third person can. It lasts until ${name} chooses a password with a link that somebody else made.`,
    passwordFrom: (names: string) => `password link made by ${names}`,
    linkPathHelp:
      'This is a path only, because CONSOLE_PUBLIC_URL is not set. Put the address of the console before it, for example https://conciliation.example.com.',
    keyTitle: (name: string) => `The key “${name}”`,
    keyHelp: 'Copy the key now. It is shown only once and is not stored.',
    keys: 'Keys for scripts',
    keysHelp:
      'A script sends its key as “Authorization: Bearer …” to /api. A key belongs to the administrator who makes it, and is revoked when that user is disabled.',
    keysNone: 'No key yet.',
    owner: (name: string) => `Belongs to ${name}`,
    noOwner: 'Belongs to no user',
    addKey: 'Make a key',
    keyName: 'Purpose',
    keyNameHelp: 'Shown in the audit log.',
    keyRole: 'Highest role',
    scopes: 'Permitted uses, within the rights of the role',
    scopeNames: {
      read: 'Read',
      export: 'Export titles',
      pull: 'Pull and backfill',
      payables: 'Send payables of the ERP',
    },
    days: 'Valid for (days)',
    makeKey: 'Make the key',
    begins: 'Begins with',
    mayDo: 'May',
    expires: 'Valid until',
    lastUsed: 'Last used',
    state: 'State',
    keyStates: { active: 'Active', expired: 'Expired', revoked: 'Revoked' },
    revoke: 'Revoke',
    revokeKey: (name: string) => `Revoke the key “${name}”`,
    revokeHelp: 'It stops working immediately.',
    faults: {
      name_invalid:
        'A user name has 1 to 64 lower-case letters, digits and . _ @ + -, and begins with a letter or digit.',
      name_taken: 'There is already a user with that name.',
      email_invalid: 'This is not an e-mail address.',
      email_taken: 'Another user has that e-mail address already.',
      unknown_user: 'There is no user with that name.',
      own_user: 'Another administrator has to disable you or change your role.',
      own_access:
        'Another administrator, or “conciliation user” at the command line, has to make a link for you or set your address.',
      last_admin: 'This is the last administrator. Make another user an administrator first.',
      disabled_user: 'That user is disabled.',
      own_factor: 'You remove your own second factor on the page “My account”.',
      no_factor: 'That user has no second factor.',
    } satisfies Readonly<Record<UserFault, string>>,
    badKey: (days: string) =>
      `A key needs a name of at most 80 characters, a role, something it is for, and 1 to ${days} days.`,
    badRole: 'Choose a role.',
    unknownKey: 'There is no such key, or it is revoked already.',
  },
};

const ptBR: typeof en = {
  users: {
    title: 'Usuários e chaves',
    people: 'Usuários',
    addUser: 'Criar usuário',
    name: 'Nome de usuário',
    nameHelp: 'Letras minúsculas sem acento, dígitos e . _ @ + -',
    role: 'Perfil',
    email: 'E-mail da conta da empresa',
    emailHelp: 'Só é preciso para entrar com essa conta.',
    bound: 'conta da empresa vinculada',
    add: 'Criar e gerar link',
    lastLogin: (at) => `Último acesso ${at}`,
    neverLogin: 'Nenhum acesso até agora',
    you: 'você',
    states: { active: 'Ativo', fresh: 'Convidado', disabled: 'Desativado' },
    change: (name) => `Alterar ${name}`,
    saveRole: 'Salvar perfil',
    saveEmail: 'Salvar e-mail',
    saveEmailHelp:
      'Encerra as sessões e desvincula a conta da empresa anterior. Vazio: só com senha.',
    newLink: 'Novo link',
    newLinkHelp: 'Para escolher uma nova senha; até lá vale a antiga.',
    secondFactor: 'verificação em duas etapas',
    resetFactor: 'Redefinir a verificação em duas etapas',
    resetFactorHelp:
      'Use quando o usuário perdeu o celular e os códigos de recuperação. Encerra as sessões. A senha continua a mesma e basta até que o usuário ative a verificação de novo. Confirme que o pedido é mesmo dessa pessoa.',
    disable: 'Desativar',
    disableHelp: 'Encerra as sessões na hora, impede novos acessos e revoga as chaves do usuário.',
    enable: 'Ativar de novo',
    ownHelp:
      'Você troca a sua senha na página “Minha conta”. Somente outro administrador, ou “conciliation user” na linha de comando, pode mudar o seu perfil ou e-mail, gerar um link para você ou desativar o seu usuário.',
    linkTitle: (name) => `O link de ${name}`,
    linkHelp: (hours) =>
      `Envie por um meio que outros não possam ler. Funciona uma vez, por ${hours} horas, e só aparece agora.`,
    linkPersons: (name) =>
      `Depois que ${name} escolher uma senha com este link, vocês dois contam como uma só pessoa: ${name} não pode fechar um dia sobre o qual você decidiu, nem você um dia sobre o qual ${name} decidiu. Uma terceira pessoa pode. Isso dura até ${name} escolher uma senha com um link gerado por outra pessoa.`,
    passwordFrom: (names) => `link da senha gerado por ${names}`,
    linkPathHelp:
      'Isto é só o caminho, porque CONSOLE_PUBLIC_URL não está definida. Coloque antes dele o endereço do console, por exemplo https://conciliation.example.com.',
    keyTitle: (name) => `A chave “${name}”`,
    keyHelp: 'Copie agora: ela só aparece esta vez e não fica guardada em lugar nenhum.',
    keys: 'Chaves para scripts',
    keysHelp:
      'O script envia a chave como “Authorization: Bearer …” para /api. A chave pertence ao administrador que a cria e é revogada quando esse usuário é desativado.',
    keysNone: 'Nenhuma chave até agora.',
    owner: (name) => `Pertence a ${name}`,
    noOwner: 'Sem usuário',
    addKey: 'Criar chave',
    keyName: 'Para que serve',
    keyNameHelp: 'Aparece na auditoria.',
    keyRole: 'Perfil máximo',
    scopes: 'Permissões, dentro do perfil',
    scopeNames: {
      read: 'Ler',
      export: 'Exportar títulos',
      pull: 'Buscar e reprocessar',
      payables: 'Enviar contas a pagar do ERP',
    },
    days: 'Validade (dias)',
    makeKey: 'Criar a chave',
    begins: 'Começa com',
    mayDo: 'Pode',
    expires: 'Vale até',
    lastUsed: 'Último uso',
    state: 'Situação',
    keyStates: { active: 'Ativa', expired: 'Vencida', revoked: 'Revogada' },
    revoke: 'Revogar',
    revokeKey: (name) => `Revogar a chave “${name}”`,
    revokeHelp: 'Ela deixa de funcionar na hora.',
    faults: {
      name_invalid:
        'Um nome de usuário tem de 1 a 64 letras minúsculas sem acento, dígitos e . _ @ + -, e começa com letra ou dígito.',
      name_taken: 'Já existe um usuário com esse nome.',
      email_invalid: 'E-mail inválido.',
      email_taken: 'Outro usuário já tem esse e-mail.',
      unknown_user: 'Não existe usuário com esse nome.',
      own_user: 'Somente outro administrador pode mudar o seu perfil ou desativar o seu usuário.',
      own_access:
        'Somente outro administrador, ou “conciliation user” na linha de comando, pode gerar um link para você ou definir o seu e-mail.',
      last_admin: 'Esse é o último administrador. Antes, dê esse perfil a outra pessoa.',
      disabled_user: 'Esse usuário está desativado.',
      own_factor: 'A sua verificação em duas etapas você desativa na página “Minha conta”.',
      no_factor: 'Esse usuário não usa a verificação em duas etapas.',
    },
    badKey: (days) =>
      `Uma chave precisa de um nome de até 80 caracteres, um perfil, uma finalidade e de 1 a ${days} dias.`,
    badRole: 'Escolha um perfil.',
    unknownKey: 'Essa chave não existe ou já foi revogada.',
  },
};

/** The texts of the page for users and API keys. */
export const usersText = { en, 'pt-BR': ptBR };
