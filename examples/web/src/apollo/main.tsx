import { ApolloProvider } from '@apollo/client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Page } from '../components/page.tsx';
import '../style.css';
import { createApolloClient } from './client.ts';
import { ApolloEssayForm } from './essay-form.tsx';
import { ApolloIbanField } from './iban-field.tsx';
import { ApolloIbanList } from './iban-list.tsx';

createRoot(document.getElementById('page') as HTMLElement).render(
  <StrictMode>
    <ApolloProvider client={createApolloClient()}>
      <Page
        client="Apollo Client"
        other={{ name: 'urql', href: '/urql.html' }}
        ibanField={<ApolloIbanField />}
        ibanList={<ApolloIbanList />}
        essayForm={<ApolloEssayForm />}
      />
    </ApolloProvider>
  </StrictMode>,
);
