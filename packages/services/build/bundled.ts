/**
 * Packages whose code is part of the bundle of the services. TypeBox has 700 modules: loaded one by one, they take 20
 * MB of memory and a third of the time until a service answers. Our declarations still import its types, so it stays a
 * dependency.
 */
export const BUNDLED: readonly string[] = ['typebox', '@fastify/type-provider-typebox']
