/** Imports a module with the loader of Node. Loaded by Vitest, this file would import with the loader of Vite. */
export const importNatively = (url: string): Promise<unknown> => import(url)
