import { z } from 'zod';

export const name = z.string().min(1).max(256);
/** A box that is ticked, from a form or a program. */
export const checked = z.union([z.literal('yes'), z.literal('on'), z.literal(true)]).transform(() => true);

/** Returns the word of an option with its value, none for one that is absent. */
export const option = (key: string, value: string | undefined) => (value === undefined ? [] : [`--${key}=${value}`]);
/** Returns the word of an option without a value. */
export const flag = (key: string, value: boolean | undefined) => (value === true ? [`--${key}`] : []);
