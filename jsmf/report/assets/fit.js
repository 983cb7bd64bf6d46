  // ---- charts of the fit -------------------------------------------------------

  chart("Convergence", "Change of the matrix in each iteration of the rectification", data.changes, true);
  chart("Spectrum", "Eigenvalues of the rectified matrix, the largest first", data.eigen, true);
  chart("Anchors", "Distance of each new anchor from those before it", data.norms, true);
  chart("Refinement", "Mean log-likelihood of a token before each pass, and at the end", data.loglik, false);
  if (!$("charts").children.length) $("charts").remove();
