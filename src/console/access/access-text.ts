const en = {
  login: {
    title: 'Sign in',
    name: 'User name',
    password: 'Password',
    submit: 'Sign in',
    code: 'Code of the app, or a recovery code',
    codeIfSet: 'Code, if you set up a second factor',
    wrong:
      'The name, the password or the code is wrong. With a second factor, a new code is needed.',
    tooMany: (seconds: string) => `Too many attempts. Try again in ${seconds} s.`,
    oidc: 'Sign in with your company account',
    orPassword: 'or with a password of this console',
    oidcFaults: {
      denied: 'The company sign-in was cancelled.',
      refused: 'The company sign-in did not work, or took too long. Try again.',
      unavailable:
        'The company sign-in does not answer at the moment. Sign in with a password of this console.',
      unknown:
        'Your company account has no user here. Ask an administrator of this console to add you with the e-mail address of that account.',
      unverified:
        'Your company account has no verified e-mail address, so the console cannot identify you.',
      disabled: 'Your user here is disabled. Ask an administrator of this console.',
    },
    help: 'No account yet? An administrator of this console adds you and gives you a link.',
  },
  signOut: {
    title: 'Signed out',
    lead: 'You are signed out of this console. Next, you sign out of your company account.',
    go: 'Sign out of the company account',
  },
  link: {
    signInTitle: 'Open the console',
    signIn: (name: string) => `This link signs you in as ${name}. It works once.`,
    open: 'Open the console',
    passwordTitle: 'Choose a password',
    choose: (name: string) => `For ${name}. The link works once.`,
    password: 'New password',
    again: 'Repeat the password',
    rule: (min: string) => `At least ${min} characters. A few random words are best.`,
    save: 'Save and sign in',
    unequal: 'The two passwords differ.',
    tooShort: (min: string) => `A password has at least ${min} characters.`,
    guessable:
      'This password is easy to guess: many people use it, or it is your name, your e-mail address or the name of this program. Choose four random words, or let a password manager choose.',
    goneTitle: 'This link does not work',
    gone: 'It was used, has expired, or was replaced by a newer one. Ask for another.',
  },
};

const ptBR: typeof en = {
  login: {
    title: 'Entrar',
    name: 'Usuário',
    password: 'Senha',
    submit: 'Entrar',
    code: 'Código do aplicativo ou de recuperação',
    codeIfSet: 'Código, se você ativou a verificação em duas etapas',
    wrong:
      'O usuário, a senha ou o código não confere. Com a verificação em duas etapas é preciso um código novo.',
    tooMany: (seconds) => `Muitas tentativas. Tente de novo em ${seconds} s.`,
    oidc: 'Entrar com a conta da empresa',
    orPassword: 'ou com uma senha deste console',
    oidcFaults: {
      denied: 'O acesso com a conta da empresa foi cancelado.',
      refused: 'O acesso com a conta da empresa não deu certo ou demorou demais. Tente de novo.',
      unavailable:
        'O acesso com a conta da empresa não responde no momento. Enquanto isso, uma senha deste console funciona.',
      unknown:
        'Sua conta da empresa não tem usuário aqui. Peça a um administrador deste console que adicione você com o e-mail dessa conta.',
      unverified:
        'Sua conta da empresa não tem um e-mail verificado; por isso não dá para saber quem você é aqui.',
      disabled: 'Seu usuário aqui está desativado. Fale com um administrador deste console.',
    },
    help: 'Ainda sem conta? Um administrador deste console cria a sua e envia um link.',
  },
  signOut: {
    title: 'Você saiu',
    lead: 'Você saiu deste console. Agora falta sair da conta da empresa.',
    go: 'Sair da conta da empresa',
  },
  link: {
    signInTitle: 'Abrir o console',
    signIn: (name) => `Este link dá acesso como ${name}. Funciona uma única vez.`,
    open: 'Abrir o console',
    passwordTitle: 'Escolha uma senha',
    choose: (name) => `Para ${name}. O link funciona uma única vez.`,
    password: 'Nova senha',
    again: 'Repita a nova senha',
    rule: (min) => `No mínimo ${min} caracteres. O ideal são algumas palavras ao acaso.`,
    save: 'Salvar e entrar',
    unequal: 'As duas senhas são diferentes.',
    tooShort: (min) => `A senha precisa de no mínimo ${min} caracteres.`,
    guessable:
      'Esta senha é fácil de adivinhar: muita gente a usa, ou ela é o seu nome, o seu e-mail ou o nome deste programa. Escolha quatro palavras ao acaso, ou deixe um gerenciador de senhas escolher.',
    goneTitle: 'Este link não funciona',
    gone: 'Já foi usado, expirou ou foi substituído por um mais novo. Peça outro.',
  },
};

/** The texts of the sign-in pages. */
export const accessText = { en, 'pt-BR': ptBR };
