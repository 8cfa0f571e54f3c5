import type { BreakKind, Payee } from '../../matching/breaks.sql.ts';
import type { MatchRule } from '../../matching/match-reads.sql.ts';

const en = {
  matching: {
    title: 'Breaks with the ERP',
    intro: 'Titles and payables that the program could not match, or that contradict each other.',
    none: 'No break is open.',
    noneFound: 'No break is open with this filter.',
    urgent: 'Urgent',
    noPayables: 'The ERP has given no payables yet.',
    kinds: {
      paid_to_supplier: 'Already paid, not to the financial agent',
      anticipated_twice: 'Anticipated twice',
      posted_twice: 'Posted twice in the ERP',
      reversal_refused: 'Reversal refused by the ERP',
      paid_in_part: 'Paid in part',
      gone_from_erp: 'No longer in the ERP',
      payee_changed: 'Payee changed in the ERP',
      still_open: 'Posted, but still open for the supplier',
      due_before_release: 'Due before the release',
      already_assigned: 'Assigned without a released booking',
      offset_in_erp: 'Set off in the ERP',
      cancelled_in_erp: 'Cancelled in the ERP',
      withdrawn_open: 'Withdrawn here, open in the ERP',
      match_lost: 'Manual match no longer valid',
      duplicated_in_erp: 'Duplicated in the ERP',
      in_doubt: 'Match in doubt',
      value_differs: 'Value differs',
      due_date_differs: 'Due date differs',
      missing_in_erp: 'Missing in the ERP',
      missing_on_platform: 'Missing on the platform',
    } satisfies Record<BreakKind, string>,
    help: {
      paid_to_supplier:
        'The ERP has paid the payable, and the value is due to the financial agent. Stop the second payment, or ask the party that was paid for the money.',
      anticipated_twice:
        'The payable that fits this title belongs to another title, a booking of another title has settled it, or more titles fit than there are payables. Ask the platform which of the titles is right.',
      posted_twice:
        'Two payables of the ERP name the same booking, so the ERP has posted it twice. Cancel one of the two in the ERP.',
      reversal_refused:
        'The ERP refuses to reverse the booking, because the financial agent was paid. Ask the agent for the money, then correct the booking in the ERP.',
      paid_in_part:
        'Less of the payable is open than its titles ask for, because the ERP has paid a part. Stop the payment of that part to the agent, or ask the supplier for the money.',
      gone_from_erp:
        'The payable is missing from a complete snapshot of the ERP, so it was paid or deleted there. Look up in the ERP what became of it before the title is booked.',
      payee_changed:
        'The payable names another payee than the supplier, and no booking has asked for that. Check in the ERP who is to be paid, and that the payable was not booked twice.',
      still_open:
        'The ERP has confirmed the booking, and still states the payable as open. Check the posting in the ERP, and block the payable for payment to the supplier.',
      due_before_release:
        'The title falls due, and its booking is not released, so the ERP will pay the supplier. Sign the day off, or block the payable in the ERP.',
      already_assigned:
        'The ERP states the payable as assigned or paid to the financial agent, and no booking has asked for that. Undo the posting in the ERP.',
      offset_in_erp:
        'The ERP has set the payable off against another document. Check with the supplier what is still owed to the financial agent.',
      cancelled_in_erp:
        'The ERP has cancelled the payable of the title. Enter the payable again in the ERP, or ask the platform to withdraw the title.',
      withdrawn_open:
        'The platform has withdrawn the title. The ERP still has an open payable of the same order. Check whether the supplier has to be paid.',
      match_lost:
        'A person has matched the two, and the title is withdrawn or the payable is cancelled since. The program does not change the match. Undo the match on the page of the title.',
      duplicated_in_erp:
        'The ERP has the same document twice. At most one of the payables has a match. Cancel one of the two in the ERP.',
      in_doubt:
        'A payable fits the title. Another payable, open or not, or another title fits too, the payable names another order, its company is not confirmed, or a person has undone the match. Choose the payable.',
      value_differs:
        'A payable has the order, or the supplier and the due date, and another value. Correct the value in the ERP, or match the two with a reason.',
      due_date_differs:
        'A payable has the supplier and the value, and another due date. Correct the due date in the ERP, or match the two with a reason.',
      missing_in_erp:
        'No open payable has the order, the value or the due date of the title. Enter the payable in the ERP.',
      missing_on_platform:
        'The payable names an order that no title has. Check the order in the ERP.',
    } satisfies Record<BreakKind, string>,
    kind: 'Kind',
    all: 'All kinds',
    date: 'Accepted date',
    supplier: "Supplier's code",
    show: 'Show',
    breaks: 'Breaks',
    value: 'Value',
    onPlatform: 'On the platform',
    inErp: 'In the ERP',
    order: 'Order',
    dueDate: 'Due date',
    key: 'Key in the ERP',
    company: 'Company',
    document: 'Document',
    instalment: 'Instalment',
    openValue: 'Open value',
    status: 'Status',
    statuses: { open: 'open', paid: 'paid', cancelled: 'cancelled' } as Readonly<
      Record<string, string>
    >,
    payee: 'Payee',
    payees: {
      supplier: 'the supplier',
      agent: 'the financial agent',
      other: 'neither the supplier nor the financial agent',
    } satisfies Record<Payee, string>,
    noTitle: 'No title.',
    noPayable: 'No payable.',
    look: 'Look at it',
    export: 'Download these breaks',
    snapshot: (at: string) => `The last complete snapshot of the ERP is of ${at}.`,
    stale:
      'The payables of the ERP are stale. The program makes and ends no match until the ERP has sent a complete snapshot.',
    noSnapshot: 'The ERP has given no complete snapshot.',
    incomplete: 'A newer snapshot was not complete and has closed nothing.',
    open: (count: string, value: string) => `${count} open payables, ${value}`,
    candidates: 'Payables without a match',
    candidatesHelp: 'Payables that share the order, the value or the due date with the title.',
    candidatesNone: 'No payable without a match is near.',
    common: 'In common',
    sameOrder: 'order',
    sameValue: 'value',
    sameDue: 'due date',
    matchHere: 'Match',
    matchWith: (key: string) => `Match with ${key}`,
    resolve: 'Resolve without a match',
    resolveHelp:
      'The break is left out of the list while both sides stay as they are now. A change brings the break back.',
    reason: 'Reason',
    gone: 'This break no longer exists. A side has changed, or a person has resolved it.',
    match: 'Match with the ERP',
    unmatched: 'The title has no match.',
    sharedWith: 'The payable is the sum of this title and of these titles:',
    rules: {
      order: 'same order, supplier and value',
      exact: 'same supplier, value and due date',
      tolerance: 'same supplier and value, due date at most 5 days apart',
      sum: 'sum of the values, same supplier and due date',
      person: 'by a person',
    } satisfies Record<MatchRule, string>,
    rule: (rule: string, version: string) => `${rule} (rules, version ${version})`,
    madeBy: (who: string, at: string) => `${who}, ${at}`,
    matching: 'the program',
    ended: (who: string, at: string, reason: string) => `Ended by ${who}, ${at}: ${reason}`,
    /** The reasons of the program. A person's reason has no translation. */
    endReasons: {} as Readonly<Record<string, string>>,
    undo: 'Undo the match',
    undoHelp: 'The program does not make this match again while both sides stay as they are.',
    stages: 'From capture to signature',
    captured: 'Captured',
    matched: 'Matched',
    signed: 'Signed',
    notSigned: 'not yet',
    openBreaks: 'Breaks of this day',
    at: 'At',
    companies: 'Companies and agents',
    companiesHelp:
      'The buyers that the companies of the ERP stand for, and the CNPJs that name one financial agent. The matching uses what a person has confirmed.',
    unmapped: 'Companies without a confirmed buyer',
    unmappedNone: 'No company needs a buyer.',
    openPayables: 'Open payables',
    proposals: 'Buyers of matches by the order',
    proposal: (buyer: string, matches: string) => `${buyer} (matches: ${matches})`,
    otherPair: 'Another company, or another buyer of a company:',
    buyer: 'CNPJ of the buyer',
    confirm: 'Confirm',
    confirmed: 'Confirmed buyers',
    confirmedNone: 'Nothing is confirmed.',
    agents: 'CNPJs of one financial agent',
    agentsHelp:
      'A fund and its administrator, for example. Branches of one company need no confirmation.',
    agent: 'CNPJ of the agent',
    sameAs: 'Other CNPJ of the agent',
    end: 'End',
  },
};

const ptBR: typeof en = {
  matching: {
    title: 'Divergências com o ERP',
    intro: 'Títulos e contas a pagar que o programa não conseguiu vincular, ou que se contradizem.',
    none: 'Nenhuma divergência em aberto.',
    noneFound: 'Nenhuma divergência em aberto com este filtro.',
    urgent: 'Urgente',
    noPayables: 'O ERP ainda não enviou contas a pagar.',
    kinds: {
      paid_to_supplier: 'Já pago, mas não ao agente financeiro',
      anticipated_twice: 'Antecipado em duplicidade',
      posted_twice: 'Lançado em duplicidade no ERP',
      reversal_refused: 'Estorno recusado pelo ERP',
      paid_in_part: 'Pago em parte',
      gone_from_erp: 'Não consta mais no ERP',
      payee_changed: 'Favorecido alterado no ERP',
      still_open: 'Lançado, mas ainda em aberto para o fornecedor',
      due_before_release: 'Vence antes da liberação',
      already_assigned: 'Cedido sem lançamento liberado',
      offset_in_erp: 'Compensado no ERP',
      cancelled_in_erp: 'Cancelado no ERP',
      withdrawn_open: 'Retirado aqui, em aberto no ERP',
      match_lost: 'Vínculo manual que não vale mais',
      duplicated_in_erp: 'Duplicado no ERP',
      in_doubt: 'Vínculo em dúvida',
      value_differs: 'Valor diferente',
      due_date_differs: 'Vencimento diferente',
      missing_in_erp: 'Não encontrado no ERP',
      missing_on_platform: 'Não encontrado na plataforma',
    },
    help: {
      paid_to_supplier:
        'O ERP já pagou a conta, e o valor é devido ao agente financeiro. Suspenda o segundo pagamento ou peça a devolução a quem recebeu.',
      anticipated_twice:
        'A conta a pagar que corresponde a este título pertence a outro título, foi baixada pelo lançamento de outro título ou há mais títulos do que contas a pagar correspondentes. Pergunte à plataforma qual dos títulos é o correto.',
      posted_twice:
        'Duas contas a pagar do ERP indicam o mesmo lançamento: ele foi contabilizado duas vezes. Cancele uma das duas no ERP.',
      reversal_refused:
        'O ERP recusou o estorno do lançamento, porque o agente financeiro já foi pago. Peça a devolução ao agente e depois acerte o lançamento no ERP.',
      paid_in_part:
        'O saldo em aberto da conta é menor do que o valor dos títulos, porque o ERP pagou uma parte. Suspenda o pagamento dessa parte ao agente ou peça a devolução ao fornecedor.',
      gone_from_erp:
        'A conta a pagar não consta mais na posição completa do ERP: foi paga ou excluída. Verifique no ERP o que aconteceu com ela antes de liberar o lançamento.',
      payee_changed:
        'A conta a pagar indica um favorecido que não é o fornecedor, sem que um lançamento tenha pedido isso. Confira no ERP quem vai receber e se a conta não foi lançada duas vezes.',
      still_open:
        'O ERP confirmou o lançamento, mas ainda informa a conta a pagar em aberto. Confira a contabilização no ERP e bloqueie o pagamento ao fornecedor.',
      due_before_release:
        'O título vence e o lançamento ainda não foi liberado: o ERP vai pagar o fornecedor. Feche o dia ou bloqueie a conta a pagar no ERP.',
      already_assigned:
        'O ERP informa a conta como cedida ou paga ao agente financeiro, sem que um lançamento tenha pedido isso. Registre o título como lançado fora do programa ou desfaça a baixa no ERP.',
      offset_in_erp:
        'O ERP compensou a conta a pagar com outro documento. Confira com o fornecedor quanto ainda é devido ao agente financeiro.',
      cancelled_in_erp:
        'O ERP cancelou a conta a pagar do título. Lance a conta novamente no ERP ou peça à plataforma que retire o título.',
      withdrawn_open:
        'A plataforma retirou o título. O ERP ainda tem uma conta a pagar em aberto do mesmo pedido. Confira se o fornecedor deve ser pago.',
      match_lost:
        'Uma pessoa vinculou os dois, e depois o título foi retirado ou a conta a pagar foi cancelada. O programa não altera o vínculo. Desfaça o vínculo na página do título.',
      duplicated_in_erp:
        'O ERP tem o mesmo documento duas vezes. No máximo uma das contas a pagar está vinculada. Cancele uma das duas no ERP.',
      in_doubt:
        'Uma conta a pagar corresponde ao título. Outra conta, em aberto ou não, ou outro título também corresponde, a conta indica outro pedido, a empresa dela não está confirmada, ou uma pessoa desfez o vínculo. Escolha a conta a pagar.',
      value_differs:
        'Uma conta a pagar tem o pedido, ou o fornecedor e o vencimento, mas outro valor. Corrija o valor no ERP ou vincule os dois informando o motivo.',
      due_date_differs:
        'Uma conta a pagar tem o fornecedor e o valor, mas outro vencimento. Corrija o vencimento no ERP ou vincule os dois informando o motivo.',
      missing_in_erp:
        'Nenhuma conta a pagar em aberto tem o pedido, o valor ou o vencimento do título. Lance a conta a pagar no ERP.',
      missing_on_platform:
        'A conta a pagar indica um pedido que nenhum título tem. Confira o pedido no ERP.',
    },
    kind: 'Tipo',
    all: 'Todos os tipos',
    date: 'Data de aceite',
    supplier: 'Código do fornecedor',
    show: 'Mostrar',
    breaks: 'Divergências',
    value: 'Valor',
    onPlatform: 'Na plataforma',
    inErp: 'No ERP',
    order: 'Pedido',
    dueDate: 'Vencimento',
    key: 'Chave no ERP',
    company: 'Empresa',
    document: 'Documento',
    instalment: 'Parcela',
    openValue: 'Valor em aberto',
    status: 'Situação',
    statuses: { open: 'em aberto', paid: 'paga', cancelled: 'cancelada' },
    payee: 'Favorecido',
    payees: {
      supplier: 'o fornecedor',
      agent: 'o agente financeiro',
      other: 'nem o fornecedor nem o agente financeiro',
    },
    noTitle: 'Nenhum título.',
    noPayable: 'Nenhuma conta a pagar.',
    look: 'Conferir',
    export: 'Baixar estas divergências',
    snapshot: (at) => `A última posição completa do ERP é de ${at}.`,
    stale:
      'As contas a pagar do ERP estão desatualizadas. O programa não cria nem desfaz vínculos até que o ERP envie uma posição completa.',
    noSnapshot: 'O ERP ainda não enviou uma posição completa.',
    incomplete: 'Uma posição mais recente veio incompleta e não baixou nenhuma conta.',
    open: (count, value) => `${count} contas a pagar em aberto, ${value}`,
    candidates: 'Contas a pagar sem vínculo',
    candidatesHelp: 'Contas a pagar com o mesmo pedido, valor ou vencimento do título.',
    candidatesNone: 'Não há conta a pagar parecida sem vínculo.',
    common: 'Em comum',
    sameOrder: 'pedido',
    sameValue: 'valor',
    sameDue: 'vencimento',
    matchHere: 'Vincular',
    matchWith: (key) => `Vincular com ${key}`,
    resolve: 'Resolver sem vínculo',
    resolveHelp:
      'A divergência sai da lista enquanto os dois lados ficarem como estão. Uma mudança a traz de volta.',
    reason: 'Motivo',
    gone: 'Esta divergência deixou de existir. Um dos lados mudou, ou uma pessoa a resolveu.',
    match: 'Vínculo com o ERP',
    unmatched: 'O título não tem vínculo.',
    sharedWith: 'A conta a pagar é a soma deste título e dos títulos:',
    rules: {
      order: 'mesmo pedido, fornecedor e valor',
      exact: 'mesmo fornecedor, valor e vencimento',
      tolerance: 'mesmo fornecedor e valor, vencimento a no máximo 5 dias',
      sum: 'soma dos valores, mesmo fornecedor e vencimento',
      person: 'vínculo manual',
    },
    rule: (rule, version) => `${rule} (regras, versão ${version})`,
    madeBy: (who, at) => `${who}, ${at}`,
    matching: 'o programa',
    ended: (who, at, reason) => `Desfeito por ${who}, ${at}: ${reason}`,
    endReasons: {
      'the title is withdrawn': 'o título foi retirado',
      'the title is restated': 'o título foi alterado pela plataforma',
      'the title has changed': 'o título mudou',
      'the payable is cancelled': 'a conta a pagar foi cancelada',
      'the payable has changed': 'a conta a pagar mudou',
      'the company is another buyer': 'a empresa é de outro comprador',
      'the payable is entered again': 'a conta a pagar foi lançada de novo',
      'the rules choose another pair or none': 'as regras indicam outro par, ou nenhum',
    },
    undo: 'Desfazer o vínculo',
    undoHelp: 'O programa não refaz este vínculo enquanto os dois lados ficarem como estão.',
    stages: 'Da captura ao fechamento',
    captured: 'Capturados',
    matched: 'Vinculados',
    signed: 'Fechamento',
    notSigned: 'ainda não',
    openBreaks: 'Divergências deste dia',
    at: 'Em',
    companies: 'Empresas e agentes',
    companiesHelp:
      'Os compradores que as empresas do ERP representam e os CNPJs que indicam o mesmo agente financeiro. A vinculação usa o que uma pessoa confirmou.',
    unmapped: 'Empresas sem comprador confirmado',
    unmappedNone: 'Nenhuma empresa precisa de comprador.',
    openPayables: 'Contas em aberto',
    proposals: 'Compradores dos vínculos por pedido',
    proposal: (buyer, matches) => `${buyer} (vínculos: ${matches})`,
    otherPair: 'Outra empresa, ou outro comprador de uma empresa:',
    buyer: 'CNPJ do comprador',
    confirm: 'Confirmar',
    confirmed: 'Compradores confirmados',
    confirmedNone: 'Nada foi confirmado.',
    agents: 'CNPJs do mesmo agente financeiro',
    agentsHelp:
      'Um fundo e a sua administradora, por exemplo. Filiais da mesma empresa não precisam de confirmação.',
    agent: 'CNPJ do agente',
    sameAs: 'Outro CNPJ do agente',
    end: 'Encerrar',
  },
};

export const matchingText = { en, 'pt-BR': ptBR };
