import { describe, expect, it } from 'vitest';
import { createSharedFlights } from '../../src/bank-data/shared-flights.ts';

function tFlights() {
  const flights = createSharedFlights<string>();
  const departures: { signal: AbortSignal; land: (answer: string) => void; crash: (error: Error) => void }[] = [];
  const join = (caller: AbortSignal, key = 'k') =>
    flights.join(key, caller, (signal) => new Promise((land, crash) => departures.push({ signal, land, crash })));
  return { join, departures };
}

const patient = () => new AbortController().signal;

describe('a shared flight', () => {
  it('departs once for all who join, and again once it has landed', async () => {
    const { join, departures } = tFlights();
    const joined = [join(patient()), join(patient()), join(patient())];
    departures[0]?.land('answer');
    expect(await Promise.all(joined)).toEqual(['answer', 'answer', 'answer']);
    expect(departures).toHaveLength(1);
    join(patient());
    expect(departures).toHaveLength(2);
  });

  it('is one of its key alone', () => {
    const { join, departures } = tFlights();
    join(patient(), 'a');
    join(patient(), 'b');
    expect(departures).toHaveLength(2);
  });

  it('tells all who wait that it failed', async () => {
    const { join, departures } = tFlights();
    const joined = [join(patient()), join(patient())];
    departures[0]?.crash(new Error('lost'));
    for (const { status } of await Promise.allSettled(joined)) expect(status).toBe('rejected');
  });

  it('goes on while one still waits, and is aborted when the last has left', async () => {
    const { join, departures } = tFlights();
    const [first, second] = [new AbortController(), new AbortController()];
    const joined = [join(first.signal), join(second.signal)];
    first.abort();
    await expect(joined[0]).rejects.toThrow('aborted');
    expect(departures[0]?.signal.aborted).toBe(false);
    second.abort();
    await expect(joined[1]).rejects.toThrow('aborted');
    expect(departures[0]?.signal.aborted).toBe(true);
    // Whoever comes next is not put on a flight that was called off.
    join(patient());
    expect(departures).toHaveLength(2);
  });

  it('is not aborted once it has landed: something may go on in the background', async () => {
    const { join, departures } = tFlights();
    const leaver = new AbortController();
    const joined = join(leaver.signal);
    departures[0]?.land('answer');
    await joined;
    leaver.abort();
    expect(departures[0]?.signal.aborted).toBe(false);
  });

  it('takes nobody on board who has left already', async () => {
    const { join, departures } = tFlights();
    await expect(join(AbortSignal.abort())).rejects.toThrow('aborted');
    expect(departures).toHaveLength(0);
  });
});
