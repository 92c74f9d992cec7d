import { useEffect, useState } from 'react';

export interface OrderAddress {
  /** The order that the page shows; null: the form for a new one. */
  id: string | null;
  /** Whether the user has gone there from another part of the page. */
  isVisited: boolean;
}

/** The order in the URL, `#order=<id>`: a reload continues to watch it, and a link opens it in a new tab. */
export function useOrderAddress(): OrderAddress {
  const [address, setAddress] = useState<OrderAddress>(() => ({ id: readId(), isVisited: false }));
  useEffect(() => {
    const update = () => setAddress({ id: readId(), isVisited: true });
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  }, []);
  return address;
}

export function toOrderHash(id: string): string {
  return `#order=${encodeURIComponent(id)}`;
}

export const formHash = '#new-order';

function readId(): string | null {
  const [, id] = /^#order=(.+)$/.exec(location.hash) ?? [];
  return id === undefined ? null : decodeURIComponent(id);
}
