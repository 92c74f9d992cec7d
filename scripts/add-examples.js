/*
 * Part of the page of GraphiQL, before its own code: the `examples` without a tab are favorites in its history, beside those of the
 * user. Another version of the gateway replaces them.
 */
const favoritesKey = 'graphiql:favorites';
try {
  const { favorites = [] } = JSON.parse(localStorage.getItem(favoritesKey) ?? '{}');
  const own = favorites.filter(({ isExample }) => !isExample);
  // The last one is shown first.
  localStorage.setItem(favoritesKey, JSON.stringify({ favorites: [...examples.toReversed(), ...own] }));
} catch {
  // Without a storage, the page has only its tabs.
}
