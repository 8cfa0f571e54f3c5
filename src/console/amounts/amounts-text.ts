const en = {
  /** Labels of the fields whose meaning a setting declares. The names of the interface are unknown ones. */
  amountMeaning: {
    discount: {
      platform_discounted_value: 'Platform discount',
      financial_discounted_value: 'Financial discount',
      buyer_discounted_value: 'Buyer discount',
    },
    net: {
      platform_discounted_value: 'Net value (platform)',
      financial_discounted_value: 'Net value (financial)',
      buyer_discounted_value: 'Net value (buyer)',
    },
    calculated: {
      platform_discounted_value: 'Net of the platform discount, calculated',
      financial_discounted_value: 'Net of the financial discount, calculated',
      buyer_discounted_value: 'Net of the buyer discount, calculated',
    },
    title: 'Meaning of the amounts',
    undocumented: (fields: string) => `The platform does not document what ${fields} mean.`,
    evidence: 'What the titles say about it',
    intro:
      'The interface documents only “monetary value” for these fields. An amount below half of the original value is probably a discount. An amount above half of it is probably a net value. Ask the platform before you decide; then set AMOUNT_MEANING.',
    range: (from: string, to: string, most: string) =>
      `Current titles accepted from ${from} to ${to}: at most ${most} titles, those of the newest dates.`,
    field: 'Field',
    declared: 'Declared as',
    meanings: { unknown: 'not documented', discount: 'discount', net: 'net value' },
    titles: 'Titles with the field',
    zero: 'Zero',
    belowHalf: 'Below half of the original value',
    fromHalf: 'Half of the original value or more',
    aboveOriginal: 'Above the original value',
    equations: 'Equations that hold',
    holds: (titles: string, share: string) =>
      `${titles} ${titles === '1' ? 'title' : 'titles'} (${share})`,
    none: 'none',
    from: 'Accepted from',
    to: 'Accepted to',
    show: 'Show',
  },
};

const ptBR: typeof en = {
  amountMeaning: {
    discount: {
      platform_discounted_value: 'Desconto da plataforma',
      financial_discounted_value: 'Desconto financeiro',
      buyer_discounted_value: 'Desconto do comprador',
    },
    net: {
      platform_discounted_value: 'Valor líquido (plataforma)',
      financial_discounted_value: 'Valor líquido (financeiro)',
      buyer_discounted_value: 'Valor líquido (comprador)',
    },
    calculated: {
      platform_discounted_value: 'Líquido do desconto da plataforma, calculado',
      financial_discounted_value: 'Líquido do desconto financeiro, calculado',
      buyer_discounted_value: 'Líquido do desconto do comprador, calculado',
    },
    title: 'Significado dos valores',
    undocumented: (fields) => `A plataforma não documenta o significado de ${fields}.`,
    evidence: 'O que os títulos indicam',
    intro:
      'A documentação da plataforma diz apenas “valor monetário” para estes campos. Um valor abaixo da metade do valor original tende a ser um desconto; acima da metade, um valor líquido. Pergunte à plataforma antes de decidir; depois defina AMOUNT_MEANING.',
    range: (from, to, most) =>
      `Títulos vigentes aceitos de ${from} a ${to}: no máximo ${most} títulos, os das datas mais recentes.`,
    field: 'Campo',
    declared: 'Definido como',
    meanings: { unknown: 'não documentado', discount: 'desconto', net: 'valor líquido' },
    titles: 'Títulos com o campo',
    zero: 'Zero',
    belowHalf: 'Abaixo da metade do valor original',
    fromHalf: 'Metade do valor original ou mais',
    aboveOriginal: 'Acima do valor original',
    equations: 'Igualdades observadas',
    holds: (titles, share) => `${titles} ${titles === '1' ? 'título' : 'títulos'} (${share})`,
    none: 'nenhuma',
    from: 'Aceite de',
    to: 'Aceite até',
    show: 'Mostrar',
  },
};

/** The names of amounts whose meaning is declared by a setting, and the page with the evidence. */
export const amountsText = { en, 'pt-BR': ptBR };
