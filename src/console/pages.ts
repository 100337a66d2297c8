import { clickPage } from './pages/figures/click.ts';
import { clicksPage } from './pages/figures/clicks.ts';
import { offerExplainedPage } from './pages/figures/offer-explained.ts';
import { offerPage } from './pages/figures/offer.ts';
import { offersPage } from './pages/figures/offers.ts';
import { overviewPage } from './pages/figures/overview.ts';
import { sitePage } from './pages/figures/site.ts';
import { sitesPage } from './pages/figures/sites.ts';
import { daysPage } from './pages/operations/days.ts';
import { filePage } from './pages/operations/file.ts';
import { filesPage } from './pages/operations/files.ts';
import { jobPage, jobsPage } from './pages/operations/jobs.ts';
import { machinePage } from './pages/operations/machine.ts';
import { postbackPage } from './pages/operations/postback.ts';
import { postbacksPage } from './pages/operations/postbacks.ts';
import { rejectsPage } from './pages/operations/rejects.ts';
import { runPage } from './pages/operations/run.ts';
import { runsPage } from './pages/operations/runs.ts';
import { sourcesPage } from './pages/operations/sources.ts';
import { tryFilePage } from './pages/operations/try-file.ts';
import { designPage } from './pages/reference/design.ts';
import { fieldsPage } from './pages/reference/fields.ts';
import { figurePage, figuresPage } from './pages/reference/figures.ts';
import { searchPage } from './pages/reference/search.ts';
import { compareSnapshotsPage, snapshotDiffPage } from './pages/reference/snapshot-diff.ts';
import { snapshotsPage } from './pages/reference/snapshots.ts';
import { sqlPage } from './pages/reference/sql.ts';
import { tablePage, tablesPage } from './pages/reference/tables.ts';
import type { NavigationGroup } from './page/document.ts';
import type { BarePage, Page } from './page/page.ts';

/** All pages. */
export const consolePages: readonly (Page | BarePage)[] = [
  overviewPage,
  offersPage,
  offerPage,
  offerExplainedPage,
  sitesPage,
  sitePage,
  clicksPage,
  clickPage,
  postbacksPage,
  postbackPage,
  runsPage,
  runPage,
  filesPage,
  filePage,
  rejectsPage,
  tryFilePage,
  daysPage,
  sourcesPage,
  machinePage,
  jobsPage,
  jobPage,
  snapshotsPage,
  compareSnapshotsPage,
  snapshotDiffPage,
  figuresPage,
  figurePage,
  tablesPage,
  tablePage,
  sqlPage,
  fieldsPage,
  searchPage,
  designPage,
];

/** The navigation: figures first, then what operators do, then what analysts look up. */
export const navigation: readonly NavigationGroup[] = [
  group('Figures', [overviewPage, offersPage, sitesPage, clicksPage]),
  group('Operations', [postbacksPage, runsPage, filesPage, tryFilePage, daysPage, sourcesPage, machinePage, jobsPage]),
  group('Reference', [snapshotsPage, figuresPage, tablesPage, sqlPage, fieldsPage]),
];

function group(title: string, pages: readonly (Page | BarePage)[]): NavigationGroup {
  return { title, pages: pages.map(({ path, navigation: name = path }) => ({ path, name })) };
}
