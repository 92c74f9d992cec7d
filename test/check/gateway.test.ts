import { describe, expect, it } from 'vitest';
import { connectToGateway } from '../../src/check/answers/gateway-answers.ts';
import { tCheck } from '../support/check/check.ts';
import { keyOf, tCallers } from '../support/gateway/callers.ts';
import { tListeningGateway } from '../support/gateway/http/listening-gateway.ts';
import { tIban } from '../support/ibans.ts';
import { replyJson, replyWithIban, tUpstream } from '../support/scripted-upstream.ts';

const ibans = Array.from({ length: 25 }, (_, number) => tIban(number));
const content = `Name,IBAN\n${[...ibans, ...ibans].map((iban, row) => `Payee ${row},${iban}`).join('\n')}\n`;

describe('check --gateway', () => {
  it('asks for lists of as many IBANs as the gateway accepts, with the key of a caller', async () => {
    const upstream = await tUpstream((response, call) => {
      const bank_data = { name: 'Bank', bic: 'COBADEFFXXX' };
      return replyJson(200, { valid: true, iban: call.query.get('iban_number'), bank_data })(response, call);
    });
    const gateway = await tCallers({
      callers: { files: 'bank-data' },
      env: { MAX_IBANS_PER_QUERY: '10', LOG_LEVEL: 'info' },
      upstream,
    });
    const { run } = tCheck(content);
    const env = { LEDGERQUILL_KEY: keyOf('files') };
    const { code, stdout, stderr } = await run(['--gateway', gateway.origin], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('25 IBANs sent to the gateway') });
    expect(stdout.split('\n').filter((line) => line.includes(',VALID,,,Bank,COBADEFFXXX,'))).toHaveLength(50);
    expect(upstream.calls).toHaveLength(25);
    await expect.poll(() => gateway.log().match(/CheckFile/g)).toHaveLength(3);
    expect(gateway.log()).not.toContain(ibans[0]);
  });

  it('exits with 2 if the gateway refuses the key', async () => {
    const gateway = await tCallers({ callers: { files: 'bank-data' } });
    const { run } = tCheck(content);
    const none = await run(['--gateway', gateway.origin]);
    expect(none).toMatchObject({ code: 2, stdout: '' });
    expect(none.stderr).toContain('requires the key of a caller: set LEDGERQUILL_KEY');
    const wrong = await run(['--gateway', gateway.url], { LEDGERQUILL_KEY: 'lq_wrong' });
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).not.toContain('lq_wrong');
    expect(gateway.upstream.calls).toEqual([]);
  });

  it('stops at --max-calls', async () => {
    const gateway = await tListeningGateway({}, await tUpstream(replyWithIban));
    const { run } = tCheck(content);
    const { code, stdout, stderr } = await run(['--gateway', gateway.origin, '--max-calls', '7']);
    expect(code).toBe(2);
    expect(gateway.upstream.calls).toHaveLength(7);
    expect(stdout.split('\n').filter((line) => line.includes(',NOT_CHECKED,'))).toHaveLength(36);
    expect(stderr).toContain('the calls of --max-calls are used up');
  });
});

describe('a gateway whose service fails', () => {
  it('is not asked again under a limit of calls, as each may be paid for', async () => {
    const upstream = await tUpstream(replyJson(404, {}));
    const { origin } = await tListeningGateway({}, upstream);
    const source = await connectToGateway({ url: origin, key: null, maxCalls: 1, pausesMs: [0, 0] });
    expect((await source.ask(tIban(1))).kind).toBe('failed');
    expect(upstream.calls).toHaveLength(1);
    await source.close();
  });

  const connect = (url: string) => connectToGateway({ url, key: null, maxCalls: null, pausesMs: [0, 0] });

  it('is asked again for what has failed only', async () => {
    const failures = new Set([tIban(1), tIban(2)]);
    const upstream = await tUpstream((response, call) => {
      const iban = call.query.get('iban_number') ?? '';
      return (failures.delete(iban) ? replyJson(404, {}) : replyWithIban)(response, call);
    });
    const gateway = await tListeningGateway({}, upstream);
    const source = await connect(gateway.origin);
    const answers = ibans.slice(0, 5).map((iban) => source.ask(iban));
    expect((await Promise.all(answers)).map(({ kind }) => kind)).toEqual(Array(5).fill('answered'));
    expect(upstream.calls).toHaveLength(7);
    await source.close();
  });

  it('is not asked any more if the service rejects its key', async () => {
    const gateway = await tListeningGateway({}, await tUpstream(replyJson(401, {})));
    const source = await connect(gateway.origin);
    const answer = source.ask(tIban(1));
    expect(await answer).toEqual({ kind: 'not-asked', reason: 'the service rejects the key of the gateway' });
    await source.close();
  });

  it('answers at once what was not sent when it is stopped', async () => {
    const gateway = await tListeningGateway();
    const source = await connect(gateway.origin);
    const answer = source.ask(tIban(1));
    source.stop('the run was interrupted');
    expect(await answer).toEqual({ kind: 'not-asked', reason: 'the run was interrupted' });
    expect(gateway.upstream.calls).toEqual([]);
    await source.close();
  });
});
