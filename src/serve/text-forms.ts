import type { TextForm } from './pages/offer-templates.ts';
import { openFormB } from './variant-b/offer-text.ts';
import { formC } from './variant-c/offer-text.ts';
import { reportForm } from './variant-c/report-text.ts';

/** All ways of writing an offer that answers are made of. */
export const textForms: readonly TextForm[] = [formC, openFormB, reportForm];
