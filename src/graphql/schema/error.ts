import { builder } from './builder.ts';

export const ErrorType = builder.interfaceRef<{ message: string }>('Error').implement({
  description: 'A failure that the client may do something about.',
  fields: (t) => ({ message: t.exposeString('message', { description: 'What went wrong, for people.' }) }),
});
