export type Shares = ReturnType<typeof createShares>;

/** What one client makes the gateway hold: a connection, or bytes. */
export interface Share {
  /** The caller, or the address of a client that was not identified. */
  readonly holder: string;
  /** Null: its first holder holds it. */
  readonly callerId: string | null;
  /** When it was last used, by `performance.now()`. */
  usedAt: number;
  /** May lose this share, too. */
  add(amount: number): void;
  /** Has this caller hold it from now on. */
  assignTo(callerId: string | null): void;
  release(): void;
}

interface TakeOptions {
  holder: string;
  /** How much it is at once. Other shares are lost for it. */
  amount?: number;
  /** Of the shares of one holder, those with the lowest rank are lost first. */
  rank?: () => number;
  /** Called after the share was released. */
  onLost: () => void;
}

/**
 * A limit for what all clients together make the gateway hold. Beyond it, the holder of most loses a share: of those with the lowest
 * rank, the one that was used least recently. So a client that takes too much takes it from itself.
 */
export function createShares(max: number) {
  const holders = new Map<string, Set<HeldShare>>();
  let total = 0;

  return {
    take({ holder, amount = 0, rank = () => 0, onLost }: TakeOptions): Share {
      const share: HeldShare = {
        holder,
        callerId: null,
        amount: 0,
        usedAt: performance.now(),
        rank,
        lose() {
          share.release();
          onLost();
        },
        add: (amount) => add(share, amount, null),
        assignTo(callerId) {
          share.callerId = callerId;
          if (leave(share)) join(share, callerId ?? holder);
        },
        release() {
          if (leave(share)) total -= share.amount;
        },
      };
      join(share, holder);
      add(share, amount, share);
      return share;
    },
  };

  function add(share: HeldShare, amount: number, kept: HeldShare | null): void {
    if (!holders.get(share.holder)?.has(share)) return;
    share.amount += amount;
    total += amount;
    while (total > max) {
      const next = findNext(holders.values(), kept);
      if (next === null) return;
      next.lose();
    }
  }

  function join(share: HeldShare, holder: string): void {
    share.holder = holder;
    const shares = holders.get(holder);
    if (shares) shares.add(share);
    else holders.set(holder, new Set([share]));
  }

  /** False if it was released before. */
  function leave(share: HeldShare): boolean {
    const shares = holders.get(share.holder);
    if (!shares?.delete(share)) return false;
    if (shares.size === 0) holders.delete(share.holder);
    return true;
  }
}

interface HeldShare extends Share {
  holder: string;
  callerId: string | null;
  amount: number;
  rank(): number;
  lose(): void;
}

/** The share that is lost next; null if only one is left, which is kept. */
function findNext(holders: Iterable<ReadonlySet<HeldShare>>, kept: HeldShare | null): HeldShare | null {
  let most = 0;
  let next: { share: HeldShare; rank: number } | null = null;
  for (const shares of holders) {
    let amount = 0;
    for (const share of shares) amount += share.amount;
    if (amount < most) continue;
    if (amount > most) next = null;
    most = amount;
    for (const share of shares) {
      if (share === kept) continue;
      const rank = share.rank();
      const isNext = next === null || rank < next.rank || (rank === next.rank && share.usedAt < next.share.usedAt);
      if (isNext) next = { share, rank };
    }
  }
  return next?.share ?? null;
}

/** The client of an address: in IPv6, all addresses with the same first 64 bits, which one client may use. */
export function holderOf(address = ''): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [start = ''] = address.split('::');
  return start.split(':').slice(0, 4).join(':');
}
