import { useCallback, useEffect, useState } from 'react';
import type { Failure } from '../failure.ts';
import type { StartEssayMutation } from '../gql/graphql.ts';
import type { EssayClient } from './essay-client.ts';
import { type OrderInput, storedForm } from './stored-form.ts';
import { toOrderHash } from './use-address.ts';

type Refusal = Exclude<StartEssayMutation['startEssay'], { __typename: 'EssayOrder' }>;

/** `unsent`: the order of an earlier visit has not arrived. */
type FormState = 'open' | 'sending' | 'unsent' | { refusal: Refusal } | { failure: Failure };

export interface OrderForm {
  state: FormState;
  /** The entries of the form before a reload, or of the last order. */
  input: OrderInput | null;
  /** The order may have arrived: it can be sent again, but not changed. */
  isLocked: boolean;
  submit(input: OrderInput): void;
  retry(): void;
}

/**
 * A form is one order, with one idempotency key: it is stored before it is sent, and sent again without a second order.
 * After a reload, the key finds the order. A started order is shown by its id in the URL.
 */
export function useOrderForm(essays: EssayClient): OrderForm {
  const [form, setForm] = useState(storedForm.read);
  const [state, setState] = useState<FormState>(form.isSent ? 'sending' : 'open');

  const open = useCallback((id: string, input: OrderInput | null) => {
    storedForm.renew(input);
    location.hash = toOrderHash(id);
  }, []);

  const find = useCallback(async () => {
    const sent = storedForm.read();
    const answer = await essays.findByKey(sent.idempotencyKey);
    if ('failure' in answer) return setState(answer);
    if (answer.value !== null) return open(answer.value, sent.input);
    setForm(storedForm.write({ ...sent, isSent: false }));
    setState('unsent');
  }, [essays, open]);

  useEffect(() => {
    if (storedForm.read().isSent) void find();
  }, [find]);

  async function send(input: OrderInput) {
    const sent = storedForm.write({ ...form, input, isSent: true });
    setForm(sent);
    setState('sending');
    const answer = await essays.start({ ...input, idempotencyKey: sent.idempotencyKey });
    if ('failure' in answer) {
      if (!answer.failure.isRetryable) setForm(storedForm.write({ ...sent, isSent: false }));
      return setState(answer);
    }
    const result = answer.value;
    if (result.__typename === 'EssayOrder') return open(result.id, input);
    // The form was sent before, and changed since then.
    if (result.__typename === 'InvalidEssayInput' && result.fields.some(({ name }) => name === 'idempotencyKey'))
      return find();
    setForm(storedForm.write({ ...sent, isSent: false }));
    setState({ refusal: result });
  }

  return {
    state,
    input: form.input,
    isLocked: form.isSent && state !== 'sending',
    submit(input) {
      if (!form.isSent) void send(input);
    },
    retry() {
      if (form.input) void send(form.input);
    },
  };
}
