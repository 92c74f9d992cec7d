import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Provider } from 'urql';
import { Page } from '../components/page.tsx';
import '../style.css';
import { createUrqlClient } from './client.ts';
import { UrqlEssayForm } from './essay-form.tsx';
import { UrqlIbanField } from './iban-field.tsx';
import { UrqlIbanList } from './iban-list.tsx';

createRoot(document.getElementById('page') as HTMLElement).render(
  <StrictMode>
    <Provider value={createUrqlClient()}>
      <Page
        client="urql"
        other={{ name: 'Apollo Client', href: '/apollo.html' }}
        ibanField={<UrqlIbanField />}
        ibanList={<UrqlIbanList />}
        essayForm={<UrqlEssayForm />}
      />
    </Provider>
  </StrictMode>,
);
