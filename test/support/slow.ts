/**
 * Options of a test that takes more than a second alone, most of them for several refreshes or for processes of their
 * own. `npm test` leaves these out; `npm run test:all`, CI, and a run of their file by name have them.
 */
export const slow = { tags: ['slow'] };
