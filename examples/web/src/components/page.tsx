import { type ReactNode, useEffect, useRef } from 'react';
import type { EssayClient } from '../state/essay-client.ts';
import { toViewHash, useAddress, type View, viewNames, views } from '../state/use-address.ts';
import { EssayPanel } from './essay-panel.tsx';
import { FilePanel } from './file-panel.tsx';

interface PageProps {
  client: string;
  other: { name: string; href: string };
  ibanField: ReactNode;
  ibanList: ReactNode;
  essays: EssayClient;
}

/** The views of both clients. All of them stay in the document, so that a check continues while another one is shown. */
export function Page({ client, other, ibanField, ibanList, essays }: PageProps) {
  const address = useAddress();
  const contents: Readonly<Record<View, ReactNode>> = {
    one: ibanField,
    many: ibanList,
    file: <FilePanel />,
    essays: <EssayPanel essays={essays} orderId={address.orderId} takesFocus={address.visited === 'order'} />,
  };
  useEffect(() => {
    document.title = `${views[address.view]} · Ledgerquill with ${client}`;
  }, [address.view, client]);
  return (
    <>
      <header className="page-header">
        <div>
          <h1>Ledgerquill example</h1>
          <p>Checks IBANs and orders essays through one GraphQL gateway, with {client}.</p>
        </div>
        <nav aria-label="Other pages">
          <a href={other.href + toViewHash(address.view)}>The same with {other.name}</a>
          <a href="/graphql">GraphiQL</a>
        </nav>
        <nav className="views" aria-label="Views">
          {viewNames.map((view) => (
            <a key={view} href={toViewHash(view)} aria-current={view === address.view ? 'page' : undefined}>
              {views[view]}
            </a>
          ))}
        </nav>
      </header>
      <main>
        {viewNames.map((view) => (
          <Panel
            key={view}
            view={view}
            isShown={view === address.view}
            takesFocus={view === address.view && address.visited === 'view'}
          >
            {contents[view]}
          </Panel>
        ))}
      </main>
    </>
  );
}

interface PanelProps {
  view: View;
  isShown: boolean;
  /** Whether the user has come here from another view. */
  takesFocus: boolean;
  children: ReactNode;
}

function Panel({ view, isShown, takesFocus, children }: PanelProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (takesFocus) heading.current?.focus();
  }, [takesFocus]);
  return (
    <section className={`panel ${view}-panel`} aria-labelledby={`${view}-heading`} hidden={!isShown}>
      <h2 ref={heading} id={`${view}-heading`} tabIndex={-1}>
        {views[view]}
      </h2>
      {children}
    </section>
  );
}
