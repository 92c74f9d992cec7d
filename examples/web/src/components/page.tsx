import type { ReactNode } from 'react';

interface PageProps {
  client: string;
  other: { name: string; href: string };
  ibanField: ReactNode;
  ibanList: ReactNode;
  essayDesk: ReactNode;
}

/** The frame of both pages; the client is what differs. */
export function Page({ client, other, ibanField, ibanList, essayDesk }: PageProps) {
  return (
    <>
      <header className="masthead">
        <h1>Ledgerquill</h1>
        <p>
          on {client} · <a href={other.href}>the same on {other.name}</a>
        </p>
      </header>
      <main className="sheets">
        <div className="column">
          <section className="sheet" aria-labelledby="iban-heading">
            <h2 id="iban-heading">One IBAN</h2>
            {ibanField}
          </section>
          <section className="sheet" aria-labelledby="essay-heading">
            <h2 id="essay-heading">Essay desk</h2>
            {essayDesk}
          </section>
        </div>
        <section className="sheet" aria-labelledby="list-heading">
          <h2 id="list-heading">Many IBANs</h2>
          {ibanList}
        </section>
      </main>
    </>
  );
}
