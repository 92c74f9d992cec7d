import { onTestFinished } from 'vitest';
import { composeSupergraph } from '../../examples/supergraph/compose.ts';
import { createPayments } from '../../examples/supergraph/payments.ts';
import { serve } from '../../examples/supergraph/serve.ts';
import { tGateway } from '../gateway.ts';
import { type Reply, replyJson, tUpstream, type Upstream } from '../scripted-upstream.ts';

export interface TSupergraph {
  /** As a router reads it; both subgraphs listen at the addresses in it. */
  sdl: string;
  /** What the gateway asks. */
  upstream: Upstream;
}

/** The example's supergraph, its subgraphs on free ports and a scripted bank-data service behind; gone with the test. */
export async function tSupergraph(reply: Reply = replyWithBank): Promise<TSupergraph> {
  const upstream = await tUpstream(reply);
  const gateway = tGateway({ bankDataUrl: upstream.url });
  const payments = await serve(createPayments());
  onTestFinished(() => payments.close());
  const sdl = composeSupergraph({ payments: payments.url, ledgerquill: `${await gateway.listen()}/graphql` });
  return { sdl, upstream };
}

/** A bank whose name tells which one was asked for. */
export const replyWithBank: Reply = (response, call) => {
  const iban = call.query.get('iban_number') ?? '';
  return replyJson(200, { valid: true, bank_data: { name: `Bank ${iban.slice(4, 12)}` } })(response, call);
};
