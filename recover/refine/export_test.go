package refine

var MomentAlpha = momentAlpha
