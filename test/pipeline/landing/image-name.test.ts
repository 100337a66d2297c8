import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { imageName } from '../../../src/pipeline/landing/catalog/image-name.ts';

it.each([
  ['https://cdn.example/a.png', '.png'],
  ['https://cdn.example/a.JPEG?size=2#x.gif', '.jpeg'],
  ['icon.webp', '.webp'],
  ['https://cdn.example/image?file=a.png', ''],
  ['https://cdn.example/a.php', ''],
])('names %s by its digest and ending', (address, ending) => {
  expect(imageName(address)).toBe(createHash('sha256').update(address).digest('hex').slice(0, 20) + ending);
});

it('has no name for no picture', () => {
  expect(imageName('')).toBe('');
});
