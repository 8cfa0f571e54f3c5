import type { Answer } from '../../../src/demo/sandbox.ts';
import {
  type Outcome,
  ProviderRegistry,
  type RegisteredProvider,
} from '../../../src/demo/sandbox.ts';

/** Behaviour that the platform's documentation leaves open. */
export interface ProviderRules {
  /**
   * For a batch with an invalid provider: refuse all of it, or apply its valid providers. The
   * status is 400 in both cases.
   */
  readonly onInvalid: 'refuse-batch' | 'apply-valid';
}

export class RuledProviders extends ProviderRegistry {
  #rules: ProviderRules = { onInvalid: 'refuse-batch' };

  setRules(rules: Partial<ProviderRules>): void {
    this.#rules = { ...this.#rules, ...rules };
  }

  protected override settle(
    outcomes: readonly Outcome[],
    staged: ReadonlyMap<string, RegisteredProvider>,
  ): Answer {
    const isValid = outcomes.every(({ status }) => status !== 'REJECTED');
    if (!isValid && this.#rules.onInvalid === 'apply-valid') this.apply(staged);
    return super.settle(outcomes, staged);
  }
}
