import { ApolloProvider } from '@apollo/client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Page } from '../components/page.tsx';
import '../style.css';
import { createApolloClient } from './client.ts';
import { createApolloEssays } from './essays.ts';
import { ApolloIbanField } from './iban-field.tsx';
import { ApolloIbanList } from './iban-list.tsx';
import { createApolloIbans } from './ibans.ts';

const client = createApolloClient();
const essays = createApolloEssays(client);
const ibans = createApolloIbans(client);

createRoot(document.getElementById('page') as HTMLElement).render(
  <StrictMode>
    <ApolloProvider client={client}>
      <Page
        client="Apollo Client"
        other={{ name: 'urql', href: '/urql.html' }}
        ibanField={<ApolloIbanField ibans={ibans} />}
        ibanList={<ApolloIbanList />}
        essays={essays}
      />
    </ApolloProvider>
  </StrictMode>,
);
