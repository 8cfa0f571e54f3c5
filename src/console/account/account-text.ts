const en = {
  account: {
    title: 'My account',
    noPassword:
      'You have no password in this console: you sign in with a company account or with a link. The provider of a company account changes its password and decides about a second factor.',
    passwordTitle: 'Password',
    present: 'Current password',
    change: 'Change the password',
    changeHelp: 'Ends your other sessions.',
    factorTitle: 'Second factor',
    factorHelp:
      'With a second factor, signing in needs the password and a code of an authenticator app on your phone.',
    factorOff: 'Not set up',
    factorOn: 'Set up',
    codesLeft: (count: string) => `Recovery codes left: ${count}`,
    setUp: 'Set up a second factor',
    newCodes: 'Make new recovery codes',
    newCodesHelp: 'The earlier codes stop working.',
    remove: 'Remove the second factor',
    removeHelp: 'From then on the password is enough. Ends your other sessions.',
    removeRequiredHelp:
      'Ends your other sessions. This console requires a second factor: you set up another one next.',
    sessionsTitle: 'Sessions',
    signedIn: 'Signed in',
    lastSeen: 'Last used',
    address: 'IP address',
    way: 'With',
    ways: { password: 'Password or link', company: 'Company account' },
    own: 'this session',
    endOthers: 'End the other sessions',
    keysHelp:
      'A change of your password does not revoke them. An administrator revokes a key that you do not know, on the page “Users and keys”.',
    wrong: 'The password or the code is wrong. A code works once, so type a new one.',
    enrolTitle: 'Set up a second factor',
    enrolRequired: 'This console requires a second factor. Set it up to go on.',
    scan: 'Scan the picture with an authenticator app, or type the secret into the app.',
    picture: 'QR code of the secret',
    secret: 'Secret',
    open: 'Open in an app on this device',
    code: 'Code that the app shows',
    confirm: 'Confirm',
    confirmHelp: 'The second factor counts once this code is right. Ends your other sessions.',
    wrongCode:
      'The code is wrong. Check that the clock of the phone is right, and type the code that the app shows now.',
    codesTitle: 'Recovery codes',
    codesHelp:
      'Each of them replaces one code of the app, once, for example when the phone is lost. They are shown only now. Print them, or keep them in a password manager.',
    codesDone: 'I have kept the codes',
  },
};

const ptBR: typeof en = {
  account: {
    title: 'Minha conta',
    noPassword:
      'Você não tem senha neste console: o acesso é pela conta da empresa ou por um link. A senha e a verificação em duas etapas de uma conta da empresa ficam com o provedor dessa conta.',
    passwordTitle: 'Senha',
    present: 'Senha atual',
    change: 'Trocar a senha',
    changeHelp: 'Encerra as suas outras sessões.',
    factorTitle: 'Verificação em duas etapas',
    factorHelp:
      'Com ela, o acesso exige a senha e um código de um aplicativo autenticador no seu celular.',
    factorOff: 'Desativada',
    factorOn: 'Ativada',
    codesLeft: (count) => `Códigos de recuperação restantes: ${count}`,
    setUp: 'Ativar a verificação em duas etapas',
    newCodes: 'Gerar novos códigos de recuperação',
    newCodesHelp: 'Os códigos anteriores deixam de funcionar.',
    remove: 'Desativar a verificação em duas etapas',
    removeHelp: 'A partir de então, basta a senha. Encerra as suas outras sessões.',
    removeRequiredHelp:
      'Encerra as suas outras sessões. Este console exige a verificação em duas etapas: em seguida, você ativa outra.',
    sessionsTitle: 'Sessões',
    signedIn: 'Início',
    lastSeen: 'Último uso',
    address: 'Endereço IP',
    way: 'Forma de acesso',
    ways: { password: 'Senha ou link', company: 'Conta da empresa' },
    own: 'esta sessão',
    endOthers: 'Encerrar as outras sessões',
    keysHelp:
      'A troca da senha não revoga as chaves. Se você não reconhece uma chave, peça a um administrador que a revogue na página “Usuários e chaves”.',
    wrong: 'A senha ou o código não confere. Cada código vale uma vez; digite um novo.',
    enrolTitle: 'Ativar a verificação em duas etapas',
    enrolRequired: 'Este console exige a verificação em duas etapas. Ative-a para continuar.',
    scan: 'Leia a imagem com um aplicativo autenticador ou digite a chave secreta no aplicativo.',
    picture: 'Código QR da chave secreta',
    secret: 'Chave secreta',
    open: 'Abrir em um aplicativo deste aparelho',
    code: 'Código que o aplicativo mostra',
    confirm: 'Confirmar',
    confirmHelp:
      'A verificação só passa a valer depois que este código for conferido. Encerra as suas outras sessões.',
    wrongCode:
      'O código não confere. Veja se o relógio do celular está certo e digite o código que o aplicativo mostra agora.',
    codesTitle: 'Códigos de recuperação',
    codesHelp:
      'Cada um substitui um código do aplicativo, uma única vez, por exemplo se você perder o celular. Eles só aparecem agora. Imprima-os ou guarde-os em um gerenciador de senhas.',
    codesDone: 'Guardei os códigos',
  },
};

/** The texts of a user's own account. */
export const accountText = { en, 'pt-BR': ptBR };
