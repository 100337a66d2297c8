import { expect, it } from 'vitest';
import { plainText } from '../../../../src/kit/intake/mapping/html.ts';

it('makes tags and entities plain', () => {
  expect(plainText('<p>Caf&eacute; &amp; bar</p><ul><li>one&nbsp;&NBSP;two<li></ul>')).toBe('Café & bar\none two');
  expect(plainText('a<br/>b<script>x()</script><!-- c --> &#8364;5 &#x20AC;')).toBe('a\nb €5 €');
  expect(plainText('&lt;b&gt; stays text, &notanentity; too, as R&D; and a=1&copy=2 do')).toBe(
    '<b> stays text, &notanentity; too, as R&D; and a=1&copy=2 do',
  );
});

it('lets no control character or torn tag through', () => {
  expect(plainText('a&#0;b&#1;c&#x80;d&#xD800;e&#10;f <img src="x')).toBe('a b c€d e f');
  expect(plainText('<b></b>')).toBeUndefined();
  expect(plainText(undefined)).toBeUndefined();
});
