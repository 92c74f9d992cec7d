import SchemaBuilder from '@pothos/core';
import DirectivesPlugin from '@pothos/plugin-directives';
import FederationPlugin from '@pothos/plugin-federation';
import type { Context } from '../context.ts';

/** Defines no type. Its only state is the shape of the schema. */
export const builder = new SchemaBuilder<{
  Context: Context;
  DefaultFieldNullability: false;
  Scalars: { ID: { Input: string; Output: string }; DateTime: { Input: never; Output: Date } };
}>({ plugins: [DirectivesPlugin, FederationPlugin], defaultFieldNullability: false });
