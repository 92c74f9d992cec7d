import { onTestFinished } from 'vitest';
import { composeSupergraph } from '../../../examples/supergraph/compose.ts';
import { createPayments } from '../../../examples/supergraph/payments.ts';
import { serve } from '../../../examples/supergraph/serve.ts';
import type { Environment } from '../../../src/base/variables/read-variables.ts';
import { tGateway } from '../gateway.ts';
import { type Reply, replyJson, tUpstream, type Upstream } from '../scripted-upstream.ts';

export interface TSupergraph {
  /** Contains the URLs of both running subgraphs. */
  sdl: string;
  /** The gateway's GraphQL endpoint. */
  ledgerquillUrl: string;
  /** The gateway's bank-data service, and its essay service. */
  upstream: Upstream;
  /** The statuses that the gateway has sent to the router, from its log. */
  statuses(): number[];
}

/** The example's supergraph with running subgraphs, and a scripted service for bank data and essays; all stop with the test. */
export async function tSupergraph(reply: Reply = replyWithBank, env: Environment = {}): Promise<TSupergraph> {
  const upstream = await tUpstream(reply);
  const gateway = tGateway({ bankDataUrl: upstream.url, essaysUrl: upstream.url, env });
  const payments = await serve(createPayments());
  onTestFinished(() => payments.close());
  const ledgerquillUrl = `${await gateway.listen()}/graphql`;
  const sdl = composeSupergraph({ payments: payments.url, ledgerquill: ledgerquillUrl });
  const statuses = () =>
    [...gateway.log().matchAll(/"route":"\/graphql","status":(\d+)/g)].map(([, status]) => Number(status));
  return { sdl, ledgerquillUrl, upstream, statuses };
}

/** A bank whose name contains the requested bank code. */
export const replyWithBank: Reply = (response, call) => {
  const iban = call.query.get('iban_number') ?? '';
  return replyJson(200, { valid: true, bank_data: { name: `Bank ${iban.slice(4, 12)}` } })(response, call);
};
