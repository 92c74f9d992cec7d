import type { ReactNode } from 'react';
import type { EssayClient } from '../state/essay-client.ts';
import { EssayPanel } from './essay-panel.tsx';
import { FilePanel } from './file-panel.tsx';

interface PageProps {
  client: string;
  other: { name: string; href: string };
  ibanField: ReactNode;
  ibanList: ReactNode;
  essays: EssayClient;
}

/** The layout of both pages. */
export function Page({ client, other, ibanField, ibanList, essays }: PageProps) {
  return (
    <>
      <header className="page-header">
        <div>
          <h1>Ledgerquill example</h1>
          <p>Checks IBANs and orders essays through one GraphQL gateway, with {client}.</p>
        </div>
        <nav aria-label="Pages">
          <a href={other.href}>The same with {other.name}</a>
          <a href="/graphql">GraphiQL</a>
        </nav>
      </header>
      <main className="panels">
        <section className="panel iban-panel" aria-labelledby="iban-heading">
          <h2 id="iban-heading">One IBAN</h2>
          {ibanField}
        </section>
        <section className="panel list-panel" aria-labelledby="list-heading">
          <h2 id="list-heading">Many IBANs</h2>
          {ibanList}
        </section>
        <section className="panel essay-panel" aria-labelledby="essay-heading">
          <h2 id="essay-heading">Essays</h2>
          <EssayPanel essays={essays} />
        </section>
        <section className="panel file-panel" aria-labelledby="file-heading">
          <h2 id="file-heading">Check a file</h2>
          <FilePanel />
        </section>
      </main>
    </>
  );
}
