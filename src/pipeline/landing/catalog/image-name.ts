import { hash } from 'node:crypto';

const pictureEnding = /\.(png|jpe?g|gif|webp|svg|avif)$/i;

/**
 * The name under which a picture is published: the same for the same address, whichever offer has it.
 * Empty where the offer has no picture.
 */
export function imageName(imageSource: string): string {
  if (imageSource === '') return '';
  const [path = ''] = imageSource.split(/[?#]/, 1);
  const ending = pictureEnding.exec(path)?.[0].toLowerCase() ?? '';
  return hash('sha256', imageSource, 'hex').slice(0, 20) + ending;
}
