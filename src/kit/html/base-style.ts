/** The style sheet that all pages begin with: tokens, and elements made of them. Its path in the package. */
export const baseStyle = 'src/kit/html/base.css';
