import type { ReactNode } from 'react';

interface PageProps {
  client: string;
  other: { name: string; href: string };
  ibanField: ReactNode;
  ibanList: ReactNode;
  essayForm: ReactNode;
}

/** The layout of both pages. */
export function Page({ client, other, ibanField, ibanList, essayForm }: PageProps) {
  return (
    <>
      <header className="page-header">
        <h1>Ledgerquill</h1>
        <p>
          with {client} · <a href={other.href}>same page with {other.name}</a>
        </p>
      </header>
      <main className="panels">
        <div className="column">
          <section className="panel" aria-labelledby="iban-heading">
            <h2 id="iban-heading">One IBAN</h2>
            {ibanField}
          </section>
          <section className="panel" aria-labelledby="essay-heading">
            <h2 id="essay-heading">Essay</h2>
            {essayForm}
          </section>
        </div>
        <section className="panel" aria-labelledby="list-heading">
          <h2 id="list-heading">Many IBANs</h2>
          {ibanList}
        </section>
      </main>
    </>
  );
}
