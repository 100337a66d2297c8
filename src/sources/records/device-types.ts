/**
 * Returns the denied types of devices without those of which only one half is denied, such as tablets: the systems of
 * the other half stay.
 */
export function wholeDeviceTypes(types: readonly string[], warnings: Set<string>): string[] {
  const denied = types.map((word) => word.toLowerCase());
  const isHalf = denied.includes('mobile') !== denied.includes('tablet');
  if (isHalf) warnings.add('device_types_in_part');
  return isHalf ? denied.filter((word) => word !== 'mobile' && word !== 'tablet') : denied;
}
