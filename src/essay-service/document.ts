import * as z from 'zod';
import { linesType } from './lines.ts';
import { bodySchema } from './writing-order.ts';

/* The description of the service in OpenAPI. */

export const openapi = {
  openapi: '3.1.0' as const,
  info: { title: 'Essays', description: 'Writes essays to order.', version: '2' },
  components: { securitySchemes: { token: { type: 'apiKey', in: 'header', name: 'token' } as const } },
};

const failure = z.object({ error: z.string().describe('What was wrong, and what would be right.') });
const answer = z.object({
  essay: z.string().describe('The title in the first line, and an empty line between paragraphs.'),
  word_count: z.int(),
  writer: z.enum(['drafter', 'model']),
});
const part = z.object({ text: z.string().describe('What follows the text of the lines before.') });

/** The schema of the endpoint, for Fastify and OpenAPI. */
export const essaySchema = {
  summary: 'Writes an essay',
  description:
    `With \`accept: ${linesType}, application/json\`, the answer is sent in lines while the text is written. Each line is a JSON ` +
    'object: lines with `text` add to the text, and the last line is the answer, or a failure. The essay begins with these texts.',
  security: [{ token: [] }],
  body: toJsonSchema(bodySchema),
  response: {
    200: {
      description: 'The essay.',
      content: {
        'application/json': { schema: toJsonSchema(answer) },
        [linesType]: { schema: toJsonSchema(z.union([part, answer, failure])) },
      },
    },
    400: describeFailure('The order is not valid.'),
    401: describeFailure('The header token is missing or wrong.'),
    429: describeFailure(
      'The allowance of the month is used up. The header retry-after says how many seconds are left.',
    ),
    500: describeFailure('The essay could not be written, and nothing of it was sent.'),
  },
};

function describeFailure(description: string) {
  return { description, content: { 'application/json': { schema: toJsonSchema(failure) } } };
}

function toJsonSchema(type: z.ZodType) {
  const { $schema: _, ...schema } = z.toJSONSchema(type);
  return schema;
}
