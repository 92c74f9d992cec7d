import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Provider } from 'urql';
import { Page } from '../components/page.tsx';
import '../style.css';
import { createUrqlClient } from './client.ts';
import { createUrqlEssays } from './essays.ts';
import { UrqlIbanField } from './iban-field.tsx';
import { UrqlIbanList } from './iban-list.tsx';
import { createUrqlIbans } from './ibans.ts';

const client = createUrqlClient();
const essays = createUrqlEssays(client);
const ibans = createUrqlIbans(client);

createRoot(document.getElementById('page') as HTMLElement).render(
  <StrictMode>
    <Provider value={client}>
      <Page
        client="urql"
        other={{ name: 'Apollo Client', href: '/apollo.html' }}
        ibanField={<UrqlIbanField ibans={ibans} />}
        ibanList={<UrqlIbanList />}
        essays={essays}
      />
    </Provider>
  </StrictMode>,
);
