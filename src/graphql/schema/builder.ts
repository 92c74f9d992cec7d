import SchemaBuilder from '@pothos/core';
import DirectivesPlugin from '@pothos/plugin-directives';
import FederationPlugin from '@pothos/plugin-federation';
import type { Context } from '../context.ts';

/** Defines no type and holds no state but the schema's shape. */
export const builder = new SchemaBuilder<{
  Context: Context;
  DefaultFieldNullability: false;
  Scalars: { ID: { Input: string; Output: string }; DateTime: { Input: never; Output: Date } };
}>({ plugins: [DirectivesPlugin, FederationPlugin], defaultFieldNullability: false });
