import { useEffect, useState } from 'react';

export const views = {
  one: 'One IBAN',
  many: 'Many IBANs',
  file: 'A file',
  essays: 'Essays',
} as const;

export type View = keyof typeof views;

export const viewNames = Object.keys(views) as View[];

export interface Address {
  view: View;
  /** The order that the page of essays shows; null: the form for a new one. */
  orderId: string | null;
  /** What the user has gone to from another part of the page; null after a load. */
  visited: 'view' | 'order' | null;
}

/** The view in the URL: `#many`, or `#order=<id>`, which a reload continues to watch and a link opens in a new tab. */
export function useAddress(): Address {
  const [address, setAddress] = useState<Address>(() => ({ ...readHash(), visited: null }));
  useEffect(() => {
    const update = () => {
      const visited = readHash();
      setAddress({ ...visited, visited: location.hash === toViewHash(visited.view) ? 'view' : 'order' });
    };
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  }, []);
  return address;
}

export function toViewHash(view: View): string {
  return `#${view}`;
}

export function toOrderHash(id: string): string {
  return `#order=${encodeURIComponent(id)}`;
}

export const formHash = '#new-order';

function readHash(): Pick<Address, 'view' | 'orderId'> {
  const { hash } = location;
  const [, id] = /^#order=(.+)$/.exec(hash) ?? [];
  if (id !== undefined) return { view: 'essays', orderId: decodeURIComponent(id) };
  if (hash === formHash) return { view: 'essays', orderId: null };
  return { view: viewNames.find((view) => toViewHash(view) === hash) ?? 'one', orderId: null };
}
