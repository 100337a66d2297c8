/** Most bytes of a request's body: credentials and a few words. */
export const maxBodyBytes = 4096;
